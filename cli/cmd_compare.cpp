#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "whatif/case.hpp"
#include "whatif/compare.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string trace;
  std::string scenario;
  std::vector<std::string> overrides;
  std::int64_t decode = 0;
  std::int64_t context = 0;
  std::int64_t prefill = 0;
  bool json = false;
};

std::optional<workloads::StepShape> shape_of(const Options& options) {
  if (options.decode == 0 && options.prefill == 0) return std::nullopt;
  workloads::StepShape shape;
  for (std::int64_t i = 0; i < options.decode; ++i)
    shape.add_decode(std::max<std::int64_t>(1, options.context));
  if (options.prefill > 0)
    shape.add_prefill(options.prefill, std::max(options.prefill, options.context), true);
  return shape;
}

void print_rows(const char* title, const std::vector<whatif::Comparison::Row>& rows,
                std::int64_t layers) {
  Table table({title, "real kernels", "simulated", "real time", "simulated", "real a layer",
               "simulated", "ratio"});
  for (const auto& row : rows) {
    const double n = static_cast<double>(layers);
    const auto time = [](double s) { return s > 0.0 ? duration(s) : std::string("-"); };
    table.add({row.name, fmt::format("{:.4g}", row.real_count),
               fmt::format("{:.4g}", row.simulated_count), time(row.real_seconds),
               time(row.simulated_seconds), time(row.real_seconds / n),
               time(row.simulated_seconds / n),
               row.ratio() ? fmt::format("{:.2f}", *row.ratio()) : "-"});
  }
  fmt::print("{}\n", table.text({1, 2, 3, 4, 5, 6, 7}));
}

int compare(const Options& options) {
  std::vector<sim::Override> overrides;
  for (const std::string& text : options.overrides) overrides.push_back(sim::parse_override(text));
  const sim::Scenario scenario =
      whatif::open_scenario(options.scenario, overrides, core::ConfigLibrary::standard());
  const diagnosis::TraceStudy study(options.trace);
  const whatif::Comparison c = whatif::compare(study, scenario, shape_of(options));
  if (options.json) {
    fmt::print("{}\n", whatif::to_json(c).dump(2));
    return kDone;
  }
  fmt::print("{} beside {} ({} on {}, {})\n", c.trace, c.scenario, scenario.model.name,
             scenario.gpu.name, scenario.stack.name);
  fmt::print("{} step{} with a known batch; times a step; ratio is simulated over real\n\n",
             c.steps, c.steps == 1 ? "" : "s");
  print_rows("class", c.classes, c.layers);
  if (!c.roles.empty()) print_rows("role", c.roles, c.layers);
  if (!c.why_no_roles.empty()) fmt::print("  no roles: {}\n\n", c.why_no_roles);
  print_rows("whole", {c.busy, c.step}, c.layers);
  return kDone;
}

}  // namespace

Action declare_compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "a profiler's file, as 'inspect' reads it")
      ->required()
      ->type_name("TRACE");
  app.add_option("scenario", options->scenario, "whose machine, model and stack are simulated")
      ->required()
      ->type_name("SCENARIO");
  add_overrides(app, options->overrides);
  app.add_option("--decode", options->decode,
                 "sequences decoding in a step, for traces without step annotations")
      ->check(CLI::Range(1, 65536));
  app.add_option("--context", options->context, "tokens of each of them")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--prefill", options->prefill, "prompt tokens in a step, likewise")
      ->check(CLI::Range(1, 1 << 24));
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nThe steps of the trace are simulated with the scenario's machine, model and stack, and "
      "held side by side:\n"
      "  ridgeline compare trace.json.gz chat_8b --set model=qwen3_8b");
  return [options] { return compare(*options); };
}

}  // namespace ridgeline::cli
