#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "fidelity/table.hpp"
#include "fidelity/validate_files.hpp"
#include "timeline/writers/output_file.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::vector<std::string> data;
  std::string hw;
  std::string csv;
  std::string scenario;
  bool json = false;
  bool markdown = false;
};

std::string percent(double x) { return fmt::format("{:.1f} %", 100.0 * x); }

std::vector<std::string> cells_of(const fidelity::Group& g) {
  const auto summary = [](const fidelity::ErrorSummary& s) {
    return s.rows == 0 ? std::vector<std::string>{"0", "-", "-"}
                       : std::vector<std::string>{std::to_string(s.rows), percent(s.median),
                                                  percent(s.p90)};
  };
  std::vector<std::string> cells{g.set, g.name};
  const auto fitted = g.errors(false);
  const auto held = g.errors(true);
  for (const auto& s : {fitted, held}) {
    for (std::string& cell : summary(s)) cells.push_back(std::move(cell));
  }
  cells.push_back(percent(g.share_inside()));
  cells.push_back(std::to_string(fitted.beyond_twice + held.beyond_twice));
  cells.push_back(std::to_string(g.below_floor()));
  return cells;
}

const std::vector<std::string> kHeader{"set",    "measured by", "not held back", "median",
                                       "p90",    "held back",   "median",        "p90",
                                       "inside", "beyond 2x",   "below floor"};

void print_table(const std::vector<fidelity::Group>& groups, bool markdown) {
  if (markdown) {
    fmt::print("| {} |\n|---|---|{}\n", fmt::join(kHeader, " | "),
               "--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (const auto& g : groups) {
      if (!g.rows.empty()) fmt::print("| {} |\n", fmt::join(cells_of(g), " | "));
    }
    return;
  }
  Table table(kHeader);
  for (const auto& g : groups) {
    if (!g.rows.empty()) table.add(cells_of(g));
  }
  fmt::print("{}\n", table.text({2, 3, 4, 5, 6, 7, 8, 9, 10}));
  for (const auto& g : groups) {
    if (g.not_predicted > 0)
      fmt::print("{} {}: {} rows not predicted: {}\n", g.set, g.name, g.not_predicted, g.why_not);
  }
}

void write_csv(const std::vector<fidelity::Group>& groups, const std::string& path) {
  timeline::write_file(path, [&](std::ostream& out) {
    out << "set,group,place,measured,predicted,held_back,inside,extrapolated\n";
    for (const auto& g : groups) {
      for (const auto& r : g.rows) {
        out << fidelity::csv_line({g.set, g.name, r.place, fmt::format("{:.6g}", r.measured),
                                   fmt::format("{:.6g}", r.predicted), r.held_back ? "1" : "0",
                                   r.inside ? "1" : "0", r.extrapolated ? "1" : "0"})
            << '\n';
      }
    }
  });
}

int validate(const Options& options) {
  Progress progress(true);
  const std::vector<fidelity::Group> groups = fidelity::validate_files(
      {options.data.begin(), options.data.end()}, core::ConfigLibrary::standard(),
      options.hw.empty() ? std::nullopt : std::optional<std::string>(options.hw),
      options.scenario.empty() ? std::nullopt : std::optional<std::string>(options.scenario),
      [&](auto done, auto of) { return progress.report(done, of, core::Instant{}); });
  if (!options.csv.empty()) write_csv(groups, options.csv);
  if (options.json) {
    fmt::print("{}\n", fidelity::to_json(groups).dump(2));
  } else {
    print_table(groups, options.markdown);
  }
  if (std::all_of(groups.begin(), groups.end(), [](const auto& g) { return g.rows.empty(); })) {
    fmt::print(stderr, "ridgeline: validate: no row could be judged\n");
    return kFailedCheck;
  }
  std::size_t below = 0;
  for (const auto& g : groups) below += g.below_floor();
  return below == 0 ? kDone : kFailedCheck;
}

}  // namespace

Action declare_validate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("data", options->data, "CSV files, or folders of them")
      ->required()
      ->type_name("DATA");
  app.add_option("--hw", options->hw, "the machine of every row: a name or a file")
      ->type_name("HW");
  app.add_option("--scenario", options->scenario,
                 "the server of a recorded run (requests.jsonl): a name or a file")
      ->type_name("SCENARIO");
  app.add_option("--csv", options->csv, "write every row with its prediction there")
      ->type_name("FILE");
  auto* json = app.add_flag("--json", options->json, "for machines");
  app.add_flag("--markdown", options->markdown, "as a Markdown table")->excludes(json);
  app.footer(
      "\nEvery row of a table of measured kernels is predicted and compared. A quarter of the "
      "rows, "
      "chosen by a hash of their cells, was held back when the constants were fitted. Inside: "
      "share "
      "of the measurements within predicted low_us and high_us, nine of ten if the error bars are "
      "right. Exit code 1 if anything is predicted below its physical floor.\n"
      "  ridgeline validate mine --hw mi300x\n"
      "  ridgeline validate gemm.csv attention.csv --markdown");
  return [options] { return validate(*options); };
}

}  // namespace ridgeline::cli
