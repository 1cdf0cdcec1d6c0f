#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "diagnosis/report.hpp"
#include "whatif/quantities.hpp"
#include "whatif/run_case.hpp"
#include "whatif/synthesis.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::vector<std::string> letters;
  bool synthesis = false;
  bool json = false;
};

std::string joined(const std::vector<std::string>& keys) {
  return fmt::format("{}", fmt::join(keys, ", "));
}

void print_case(const whatif::CaseOutcome& outcome) {
  fmt::print("Case {}: {}\n\n", outcome.what.letter, outcome.what.title);
  fmt::print("  given\n");
  for (const std::string& given : outcome.what.given) fmt::print("    {}\n", given);
  fmt::print("  free ({} of at most {})\n", outcome.what.free.size(), whatif::kMostFree);
  for (const auto& free : outcome.what.free) {
    fmt::print("    {} = {}\n      {}\n", joined(free.keys), free.value, free.reason);
  }
  fmt::print("  came out\n");
  Table table({"quantity", "unit", "simulated", "stated", "accepted", ""});
  for (const auto& line : outcome.lines) {
    const auto& q = whatif::quantity(line.expected.quantity);
    table.add({std::string(q.name), std::string(q.unit), number(line.simulated),
               number(line.expected.value),
               number(line.expected.accepted.low) + " to " + number(line.expected.accepted.high),
               line.holds() ? "ok" : "OUTSIDE"});
  }
  fmt::print("{}\n", table.text({2, 3}, "    "));
  fmt::print("Diagnosis from the simulated timeline\n\n{}\n",
             diagnosis::to_text(outcome.from_timeline));
  fmt::print("Diagnosis from the numbers a person typed\n\n{}\n",
             diagnosis::to_text(outcome.from_typed));
}

int print_summary(const std::vector<whatif::CaseOutcome>& outcomes) {
  Table table({"case", "regime", "phase", "numbers", "first fix", "rejected", "both roads agree"});
  bool all_hold = true;
  for (const auto& o : outcomes) {
    const auto holding = std::count_if(o.lines.begin(), o.lines.end(),
                                       [](const auto& line) { return line.holds(); });
    const auto first = [](const auto& list) {
      return list.empty() ? std::string("-") : list.front().name;
    };
    table.add({o.what.letter, std::string(diagnosis::name_of(o.from_timeline.regime)),
               std::string(diagnosis::name_of(o.from_timeline.phase)),
               fmt::format("{} of {}", holding, o.lines.size()), first(o.from_timeline.fixes),
               first(o.from_timeline.rejects), o.diagnoses_agree() ? "yes" : "NO"});
    all_hold = all_hold && o.numbers_hold() && o.diagnoses_agree();
  }
  fmt::print("{}", table.text({}));
  return all_hold ? kDone : kFailedCheck;
}

int synthesis(const Options& options) {
  if (!options.letters.empty())
    throw core::ConfigError("cases: a letter cannot stand beside --synthesis");
  const whatif::Synthesis synthesis = whatif::synthesize();
  fmt::print("{}",
             options.json ? whatif::to_json(synthesis).dump(2) + "\n" : whatif::to_text(synthesis));
  return kDone;
}

int cases(const Options& options) {
  if (options.synthesis) return synthesis(options);
  const auto library = core::ConfigLibrary::standard();
  std::vector<whatif::CaseOutcome> outcomes;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const whatif::Case& what : whatif::chosen_cases(options.letters, library)) {
    outcomes.push_back(whatif::run_case(what, library));
    if (options.json) {
      json.push_back(whatif::to_json(outcomes.back()));
    } else {
      print_case(outcomes.back());
    }
  }
  if (options.json) {
    fmt::print("{}\n", json.dump(2));
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](const auto& o) { return o.numbers_hold() && o.diagnoses_agree(); })
               ? kDone
               : kFailedCheck;
  }
  return print_summary(outcomes);
}

}  // namespace

Action declare_cases(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("letters", options->letters, "which cases, e.g. A or C E; all if left out")
      ->type_name("A-E");
  app.add_flag("--synthesis", options->synthesis,
               "the two measurements to ask for first, shown over generated scenarios whose "
               "limiter is known");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nFor example:\n"
      "  ridgeline cases A C          two of them\n"
      "  ridgeline cases --json       all of them, for machines\n"
      "  ridgeline cases --synthesis\n"
      "\nExit code 1 when a number falls outside its tolerance or the two diagnoses of a case "
      "differ.");
  return [options] { return cases(*options); };
}

}  // namespace ridgeline::cli
