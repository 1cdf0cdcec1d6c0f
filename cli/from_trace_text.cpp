#include "cli/from_trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/cause_words.hpp"
#include "cli/experiment_text.hpp"
#include "cli/table.hpp"
#include "diagnosis/prose.hpp"

namespace ridgeline::cli {
namespace {

using whatif::ErrorRow;
using whatif::FromTrace;

std::string percent(double x) { return fmt::format("{:.1f} %", 100.0 * x); }

std::string plural(std::size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

const ErrorRow* named(const std::vector<ErrorRow>& rows, const std::string& name) {
  const auto it =
      std::find_if(rows.begin(), rows.end(), [&](const ErrorRow& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

std::string both(const ErrorRow* row) {
  return row == nullptr ? "-" : percent(row->median_error) + " / " + percent(row->p90_error);
}

/// Errors of the steps that were fitted and of those that were not, before and after.
std::string agreement_text(const whatif::Calibration& c) {
  const bool held = !c.after.held_back.empty();
  std::vector<std::string> header{"error, median / p90", "recorded", "shipped stack", "fitted"};
  if (held) header.insert(header.end(), {"held back, shipped", "held back, fitted"});
  Table table(std::move(header));
  for (const ErrorRow& row : c.after.fitted) {
    std::vector<std::string> cells{row.name, duration(row.real_seconds),
                                   both(named(c.before.fitted, row.name)), both(&row)};
    if (held)
      cells.insert(cells.end(), {both(named(c.before.held_back, row.name)),
                                 both(named(c.after.held_back, row.name))});
    table.add(std::move(cells));
  }
  return table.text(held ? std::vector<std::size_t>{1, 2, 3, 4, 5}
                         : std::vector<std::size_t>{1, 2, 3});
}

std::string values_text(const whatif::Calibration& c) {
  Table table({"fitted", "before", "after", "from"});
  std::string bounds;
  for (const whatif::SwitchedFusion& s : c.choice.switches)
    table.add({s.key, s.before, s.after,
               fmt::format("kernels amiss {} instead of {}", percent(s.kernels_off_after),
                           percent(s.kernels_off_before))});
  for (const whatif::FittedValue& v : c.values) {
    table.add({v.key, v.before, v.after,
               fmt::format("{}; {} {}", v.from, v.count,
                           v.count == 1 ? v.of.substr(0, v.of.size() - 1) : v.of)});
    if (!v.bound.empty()) bounds += diagnosis::wrapped(fmt::format("  {}: {}", v.key, v.bound), 4);
  }
  return table.text({1, 2}) + bounds;
}

std::string classes_text(const whatif::Calibration& c) {
  Table table({"class, a step", "kernels", "simulated", "time", "shipped stack", "fitted"});
  for (const whatif::ClassRow& row : c.classes_after) {
    const auto before =
        std::find_if(c.classes_before.begin(), c.classes_before.end(),
                     [&](const whatif::ClassRow& other) { return other.name == row.name; });
    const auto time = [](double s) { return s > 0.0 ? duration(s) : std::string("-"); };
    table.add({row.name, fmt::format("{:.4g}", row.real_count),
               fmt::format("{:.4g}", row.simulated_count), time(row.real_seconds),
               before == c.classes_before.end() ? "-" : time(before->simulated_seconds),
               time(row.simulated_seconds)});
  }
  return table.text({1, 2, 3, 4, 5});
}

std::string stacks_text(const whatif::Calibration& c) {
  constexpr std::size_t kShown = 3;
  std::string out;
  std::size_t shown = 0;
  for (const whatif::StackScore& score : c.choice.scores) {
    if (!score.cannot_run.empty() || shown == kShown) break;
    out += fmt::format("{}{} (kernels {} amiss, their time {})", shown == 0 ? "" : ", then ",
                       score.name, percent(score.kernels_off), percent(score.time_off));
    ++shown;
  }
  return diagnosis::wrapped("nearest shipped stack: " + out, 2);
}

std::string replay_text(const whatif::Replay& replay) {
  std::string out = fmt::format("the same {} on the fitted scenario\n\n",
                                plural(static_cast<std::size_t>(replay.steps), "step"));
  Table table({"", "a step", "speed", "binds"});
  table.add({"recorded", duration(replay.real_step_seconds), "", ""});
  const double steps = static_cast<double>(replay.steps);
  for (const whatif::ReplayedVariant& v : replay.variants) {
    if (!v.ran()) {
      out += diagnosis::wrapped(fmt::format("{}: cannot run: {}", v.name, v.cannot_run), 4);
      continue;
    }
    const std::string binds =
        v.diagnosis ? fmt::format("{} / {} ({:.0f} %)", name_of(v.diagnosis->regime),
                                  name_of(v.diagnosis->phase), 100.0 * v.diagnosis->confidence)
                    : "-";
    table.add({v.name, duration(v.step_seconds), fmt::format("{:.2f}x", v.gain), binds});
  }
  out += table.text({1, 2}) + "\n";
  std::vector<std::string> header{"time of a step"};
  std::vector<std::size_t> right;
  for (const whatif::ReplayedVariant& v : replay.variants) {
    if (!v.ran()) continue;
    right.push_back(header.size());
    header.push_back(v.name);
  }
  Table ledger(std::move(header));
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    std::vector<std::string> cells{std::string(kCauseWords[c])};
    bool any = false;
    for (const whatif::ReplayedVariant& v : replay.variants) {
      if (!v.ran()) continue;
      const double seconds = v.ledger.by_cause[c].seconds().value() / steps;
      any = any || seconds > 0.0;
      cells.push_back(duration(seconds));
    }
    if (any) ledger.add(std::move(cells));
  }
  out += ledger.text(right);
  if (!replay.predictions.empty()) {
    Table said({"what the trace's own diagnosis says", "", "predicted", "replayed"});
    for (const whatif::Prediction& p : replay.predictions)
      said.add({p.fix, p.place, fmt::format("{:.2f}x to {:.2f}x", p.speedup.low, p.speedup.high),
                p.measured ? fmt::format("{:.2f}x", *p.measured) : p.note});
    out += "\n" + said.text({2, 3});
  }
  return out + "\n" +
         diagnosis::wrapped(
             "The batches stay as they were recorded: of queues, latencies and other batches a "
             "replay says nothing.",
             0);
}

std::string lines(const std::vector<std::string>& notes, const char* title) {
  if (notes.empty()) return "";
  std::string out = fmt::format("\n{}\n", title);
  for (const std::string& note : notes) out += diagnosis::wrapped("  * " + note, 4);
  return out;
}

}  // namespace

std::string to_text(const FromTrace& answer, bool all) {
  const whatif::Calibration& c = answer.calibration;
  std::string out = fmt::format("{}: {} on {}\n", answer.facts.file, answer.scenario.model.name,
                                answer.scenario.gpu.name);
  out += fmt::format("{}; {} fitted, {} held back\n", answer.facts.how_steps,
                     plural(c.fitted_steps, "step"), c.held_back_steps);
  out += stacks_text(c) + "\n";
  out += agreement_text(c) + "\n" + values_text(c) + "\n" + classes_text(c);
  std::vector<std::string> notes = answer.facts.notes;
  notes.insert(notes.end(), c.notes.begin(), c.notes.end());
  out += lines(notes, "What does not fit, or is not known");
  out +=
      lines(c.choice.draft.assumptions(), "Assumed of the requests, which a trace does not show");
  if (answer.facts.diagnosis)
    out +=
        fmt::format("\ndiagnosis of the trace itself: {} / {} ({:.0f} %)\n",
                    name_of(answer.facts.diagnosis->regime), name_of(answer.facts.diagnosis->phase),
                    100.0 * answer.facts.diagnosis->confidence);
  if (answer.replay) out += "\n" + replay_text(*answer.replay);
  if (answer.served) {
    out += "\n" +
           diagnosis::wrapped(
               fmt::format("{} decides which steps there are, so recorded ones do not answer: the "
                           "fitted scenario is served to its stand-in clients. Its latencies are "
                           "theirs, not those of the recorded server.",
                           answer.why_served),
               0) +
           "\n" + to_text(*answer.served, all);
  }
  return out;
}

}  // namespace ridgeline::cli
