#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/command.hpp"
#include "cli/processes.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "whatif/score/score.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::vector<std::string> parts;
  std::string traces;
  std::int64_t n = 300;
  std::uint64_t seed = 7;
  std::int64_t jobs = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  bool each = false;
  bool json = false;
  bool markdown = false;
  bool quiet = false;
};

constexpr const char* kWithoutTrials = "reports, trials left out";

struct Part {
  std::string name;
  whatif::Marks marks;
};

/// A directory of our own that goes when we do.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "ridgeline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw core::SimulationError(name + ": cannot make a temporary directory");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::filesystem::path of(std::int64_t i) const { return path_ / std::to_string(i); }

 private:
  std::filesystem::path path_;
};

/// Items are made and marked by processes of their own, which leave their marks in files. False
/// when stopped by Ctrl-C.
bool score_corpus(const Options& options, const core::ConfigLibrary& library,
                  std::vector<Part>& out) {
  const whatif::ServerPool pool(library);
  const Scratch scratch;
  const auto work = [&](std::int64_t i) {
    nlohmann::ordered_json levels = nlohmann::ordered_json::array();
    for (const whatif::Mark& m : whatif::mark_levels(whatif::make_item(pool, options.seed, i)))
      levels.push_back(whatif::to_json(m));
    std::ofstream(scratch.of(i)) << levels.dump();
  };
  Progress progress(!options.quiet);
  const auto report = [&](std::int64_t done) {
    return progress.report([&](double elapsed) {
      return fmt::format("{} of {} items, {:.1f} a second", done, options.n,
                         static_cast<double>(done) / elapsed);
    });
  };
  if (!in_processes(options.n, options.jobs, work, report)) return false;
  std::vector<Part> levels;
  for (const std::string_view level : whatif::kLevels)
    levels.push_back({"corpus: " + std::string(level), {}});
  for (std::int64_t i = 0; i < options.n; ++i) {
    std::ifstream in(scratch.of(i));
    const auto marks = nlohmann::json::parse(in);
    for (std::size_t k = 0; k < levels.size(); ++k)
      levels[k].marks.all.push_back(whatif::mark_from_json(marks.at(k)));
  }
  out.insert(out.end(), levels.begin(), levels.end());
  return true;
}

std::string of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-" : fmt::format("{} of {}", part, whole);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.0f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

const std::vector<std::string> kHeader{"truth",
                                       "n",
                                       "regime",
                                       "",
                                       "first or second fix",
                                       "",
                                       "rejects",
                                       "",
                                       "wrong at 80 %",
                                       "contradictions named",
                                       "gain, median error"};

std::vector<std::string> row_of(const Part& part) {
  const whatif::Marks& m = part.marks;
  const auto n = static_cast<std::int64_t>(m.all.size());
  const auto error = m.gain_error_median();
  return {part.name,
          std::to_string(n),
          of(m.regime(), n),
          percent(m.regime(), n),
          of(m.fix(), m.fix_judged()),
          percent(m.fix(), m.fix_judged()),
          of(m.reject(), m.reject_judged()),
          percent(m.reject(), m.reject_judged()),
          std::to_string(m.confidently_wrong()),
          of(m.inconsistent_named(), m.inconsistent()),
          error ? fmt::format("{:.0f} %", 100.0 * *error) : "-"};
}

void print_markdown(const std::vector<Part>& parts) {
  fmt::print("| {} |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", fmt::join(kHeader, " | "));
  for (const Part& part : parts) fmt::print("| {} |\n", fmt::join(row_of(part), " | "));
}

void print_calibration(const std::vector<Part>& parts) {
  fmt::print("\nHow often answers of a confidence are right\n\n");
  std::vector<std::string> header{"confidence"};
  for (const Part& part : parts) header.push_back(part.name);
  Table table(header);
  for (std::size_t b = 0; b < parts.front().marks.calibration().size(); ++b) {
    std::vector<std::string> cells;
    for (const Part& part : parts) {
      const auto bin = part.marks.calibration()[b];
      if (cells.empty())
        cells.push_back(fmt::format("{:.0f} to {:.0f} %", 100.0 * bin.from, 100.0 * bin.to));
      cells.push_back(bin.n == 0 ? "-" : fmt::format("{} ({})", percent(bin.right, bin.n), bin.n));
    }
    table.add(cells);
  }
  fmt::print("{}", table.text({}));
}

void print_confusion(const Part& part) {
  fmt::print("\n{}: what was wanted, and what was answered\n\n", part.name);
  std::vector<std::string> header{"wanted"};
  for (const std::string_view name : diagnosis::kRegimeNames) header.emplace_back(name);
  Table table(header);
  for (const auto& [wanted, answers] : part.marks.confusion()) {
    std::vector<std::string> cells{wanted};
    for (const std::string_view name : diagnosis::kRegimeNames) {
      const auto it = answers.find(std::string(name));
      cells.push_back(it == answers.end() ? "" : std::to_string(it->second));
    }
    table.add(cells);
  }
  fmt::print("{}", table.text({}));
}

void print_each(const Part& part) {
  fmt::print("\n{}\n\n", part.name);
  Table table({"", "wanted", "answered", "confidence", "fixes", "rejected"});
  for (const whatif::Mark& m : part.marks.all) {
    const auto flag = [](const std::optional<bool>& right) {
      return std::string(!right ? "  " : *right ? "" : "! ");
    };
    table.add({m.name, m.wanted, (m.regime_right ? "" : "! ") + m.regime,
               fmt::format("{:.0f} %", 100.0 * m.confidence),
               flag(m.fix_right) + fmt::format("{}", fmt::join(m.fixes, ", ")),
               flag(m.reject_right) + fmt::format("{}", fmt::join(m.rejects, ", "))});
  }
  fmt::print("{}", table.text({3}));
}

nlohmann::ordered_json to_json(const std::vector<Part>& parts, bool each) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Part& part : parts) {
    nlohmann::ordered_json marks = whatif::to_json(part.marks);
    if (each) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const whatif::Mark& m : part.marks.all) all.push_back(whatif::to_json(m));
      marks["each"] = all;
    }
    constexpr std::string_view kCorpus = "corpus: ";
    if (part.name.starts_with(kCorpus)) {
      const std::string level = part.name.substr(kCorpus.size());
      if (level == whatif::kLevels[0] && marks.contains("gain_error_median"))
        out["corpus"]["gain_error_median"] = marks["gain_error_median"];
      out["corpus"][level] = std::move(marks);
    } else if (part.name == kWithoutTrials) {
      out["reports_without_trials"] = std::move(marks);
    } else {
      out[part.name] = std::move(marks);
    }
  }
  return out;
}

int score(const Options& options) {
  const auto library = core::ConfigLibrary::standard();
  const auto chosen = [&](std::string_view part) {
    return options.parts.empty() ||
           std::find(options.parts.begin(), options.parts.end(), part) != options.parts.end();
  };
  std::vector<Part> parts;
  // The corpus first: its processes must start before this one runs a simulation.
  std::vector<Part> corpus;
  if (chosen("corpus") && !score_corpus(options, library, corpus)) {
    fmt::print(stderr, "stopped by Ctrl-C\n");
    return kInterrupted;
  }
  if (chosen("cases")) parts.push_back({"cases", whatif::score_cases(library)});
  if (chosen("reports")) {
    parts.push_back({"reports", whatif::score_reports(library)});
    parts.push_back({kWithoutTrials, whatif::score_reports(library, false)});
  }
  parts.insert(parts.end(), corpus.begin(), corpus.end());
  if (chosen("traces") && !options.traces.empty())
    parts.push_back({"traces", whatif::score_traces(library, options.traces)});
  if (options.json) {
    fmt::print("{}\n", to_json(parts, options.each).dump(2));
    return kDone;
  }
  if (options.markdown) {
    print_markdown(parts);
    return kDone;
  }
  Table table(kHeader);
  for (const Part& part : parts) table.add(row_of(part));
  fmt::print("{}", table.text({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  if (chosen("traces") && options.traces.empty())
    fmt::print("traces: skipped, no directory was given (--traces DIR)\n");
  if (!parts.empty()) print_calibration(parts);
  for (const Part& part : parts) {
    if (part.name.starts_with("corpus")) print_confusion(part);
    if (options.each) print_each(part);
  }
  return kDone;
}

}  // namespace

Action declare_score(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("parts", options->parts, "what to score; all of it if left out")
      ->type_name("cases|reports|corpus|traces")
      ->check(CLI::IsMember({"cases", "reports", "corpus", "traces"}).description(""));
  app.add_option("--traces", options->traces,
                 "directory with the public traces that configs/truth/traces.yaml names")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory.description(""));
  app.add_option("--n", options->n, "items of the corpus")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the corpus")
      ->type_name("SEED")
      ->capture_default_str();
  app.add_option("--jobs", options->jobs, "processes at work; as many as cores if left out")
      ->type_name("JOBS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_flag("--each", options->each, "every answer, wrong ones marked with '!'");
  app.add_flag("--markdown", options->markdown, "the table alone, for documents");
  app.add_flag("--json", options->json, "for machines");
  app.add_flag("--quiet", options->quiet, "no progress on stderr");
  app.footer(
      "\nFor example:\n"
      "  ridgeline score                        cases, reports and 300 items of the corpus\n"
      "  ridgeline score reports --each         which of the public reports it gets wrong\n"
      "  ridgeline score corpus --n 2000 --json");
  return [options] { return score(*options); };
}

}  // namespace ridgeline::cli
