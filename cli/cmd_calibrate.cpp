#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "fidelity/calibrate.hpp"
#include "fidelity/launch_table.hpp"
#include "fidelity/validate.hpp"
#include "timeline/writers/output_file.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::vector<std::string> data;
  std::string hw;
  std::string only;
  std::string out;
  std::string stack = "vllm_v1";
  std::string stack_out;
  bool every_row = false;
};

constexpr double kSaysNothing = 2.0;  // a standard error of twice the value

std::string percent(double x) { return fmt::format("{:.1f} %", 100.0 * x); }

void print(const fidelity::Calibration& c) {
  fmt::print("{}\n", c.place);
  if (!c.constants.empty()) {
    Table table({"constant", "shipped", "fitted", "+-"});
    for (const auto& constant : c.constants) {
      const std::string key = constant.path.substr(c.place.size() + 1);
      table.add({key, constant.shipped, constant.fitted,
                 constant.at_bound               ? "at its bound"
                 : constant.error > kSaysNothing ? "not determined"
                                                 : percent(constant.error)});
    }
    fmt::print("{}", table.text({1, 2, 3}));
  } else {
    fmt::print("  not fitted: {}\n", c.why_not);
  }
  Table errors({"", "rows", "median", "p90", "beyond 2x"});
  const auto row = [&](const char* name, const fidelity::ErrorSummary& s) {
    if (s.rows > 0)
      errors.add({name, std::to_string(s.rows), percent(s.median), percent(s.p90),
                  std::to_string(s.beyond_twice)});
  };
  row("shipped", c.before);
  if (!c.constants.empty()) row("fitted", c.after);
  row("shipped, rows held back", c.held_before);
  if (!c.constants.empty()) row("fitted, rows held back", c.held_after);
  fmt::print("{}", errors.text({1, 2, 3, 4}));
  if (!c.constants.empty() && c.held_after.median > c.held_before.median * 1.1)
    fmt::print("  careful: rows held back fit worse than with the shipped constants\n");
  fmt::print("\n");
}

/// What the tables say of launching, beside what the stack has; nothing where they say nothing.
void launches(const Options& options, const core::ConfigLibrary& library) {
  std::vector<fidelity::LaunchFigure> figures;
  for (const std::string& path : options.data) {
    for (const auto& file : fidelity::tables_in(path)) {
      if (file.extension() != ".csv") continue;
      const fidelity::Table table = fidelity::load_table(file);
      if (!fidelity::is_launch_table(table)) continue;
      for (auto& figure : fidelity::launch_figures(table)) figures.push_back(std::move(figure));
    }
  }
  if (figures.empty()) {
    if (!options.stack_out.empty())
      throw core::ConfigError(
          "--stack-out: no table says what launching costs (launch.csv of "
          "scripts/measure_gpu.py)");
    return;
  }
  const core::Node stack = library.resolve(
      "stacks", core::Node{core::Node::Kind::scalar, options.stack, false, {}, {}, {}}, "--stack");
  const core::Node* shipped = stack.find("launch");
  Table table({"launch", options.stack, "measured", "from"});
  for (const auto& figure : figures) {
    const core::Node* was = shipped == nullptr ? nullptr : shipped->find(figure.key);
    table.add(
        {figure.key, was == nullptr ? "-" : was->scalar, duration(figure.seconds), figure.from});
  }
  fmt::print("{}\n", table.text({1, 2}));
  if (options.stack_out.empty()) return;
  const std::string text = core::to_yaml(fidelity::launch_overlay(figures, options.stack));
  timeline::write_file(options.stack_out, [&](std::ostream& out) { out << text; });
  fmt::print("{0}: the stack as measured, for --set stack={0}\n", options.stack_out);
}

int calibrate(const Options& options) {
  const core::ConfigLibrary library = core::ConfigLibrary::standard();
  fidelity::Calibrator calibrator(library, options.hw, options.every_row);
  calibrator.add_files({options.data.begin(), options.data.end()});
  const auto calibrations = calibrator.run(options.only);
  if (!options.out.empty()) {
    const std::string text = core::to_yaml(calibrator.overlay(calibrations));
    timeline::write_file(options.out, [&](std::ostream& out) { out << text; });
  }
  for (const auto& c : calibrations) print(c);
  if (!options.out.empty())
    fmt::print("{}: the machine as fitted, for --set hw={}\n", options.out, options.out);
  launches(options, library);
  return kDone;
}

}  // namespace

Action declare_calibrate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("data", options->data, "CSV files of measured kernels, or folders of them")
      ->required()
      ->type_name("DATA");
  app.add_option("--hw", options->hw, "the machine to fit, and where the fit starts")
      ->required()
      ->type_name("HW");
  app.add_option("--only", options->only, "places whose name holds this, e.g. gemm or rccl")
      ->type_name("TEXT");
  app.add_option("--out", options->out, "write the fitted machine there")->type_name("FILE.yaml");
  app.add_option("--stack", options->stack, "the stack whose launches are compared (vllm_v1)")
      ->type_name("STACK");
  app.add_option("--stack-out", options->stack_out,
                 "write that stack with launches as measured (launch.csv) there")
      ->type_name("FILE.yaml");
  app.add_flag("--every-row", options->every_row,
               "all rows are this machine's, whatever their hw column says");
  app.footer(
      "\nA quarter of the rows is held back. Prints each constant beside the shipped one, with its "
      "standard error, and the errors before and after:\n"
      "  python3 scripts/measure_gpu.py --out mine\n"
      "  ridgeline calibrate mine --hw mi300x --every-row --out my_gpu.yaml\n"
      "  ridgeline run chat_8b --set hw=./my_gpu.yaml");
  return [options] { return calibrate(*options); };
}

}  // namespace ridgeline::cli
