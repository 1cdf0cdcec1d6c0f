#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/cause_words.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "diagnosis/report.hpp"
#include "sim/energy.hpp"
#include "sim/run.hpp"
#include "sim/run_directory.hpp"
#include "whatif/case.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  std::optional<std::string> out;
  bool json = false;
  bool quiet = false;
};

std::string counted(std::int64_t n) { return number(static_cast<double>(n)); }

void print_latency(const sim::Metrics& m) {
  Table table({"", "mean", "median", "p90", "p99", "max"});
  const auto row = [&](const char* name, const core::Summary& s) {
    if (s.count > 0)
      table.add({name, duration(s.mean), duration(s.p50), duration(s.p90), duration(s.p99),
                 duration(s.max)});
  };
  row("TTFT", m.ttft);
  row("TPOT", m.tpot);
  row("ITL", m.itl);
  row("E2E", m.e2e);
  row("queue", m.queue);
  fmt::print("{}\n", table.text({1, 2, 3, 4, 5}));
}

void print_ledger(const sim::RunResult& result) {
  if (result.steps.empty()) return;
  const hw::Ledger ledger = result.ledger();
  const core::Nanoseconds begin{result.steps.front().start.ns};
  const double whole = static_cast<double>(result.end().ns - begin.count);
  Table table({"where the server's time went", "", ""});
  const auto row = [&](std::string_view name, std::int64_t ns) {
    if (ns == 0) return;
    table.add({std::string(name), duration(static_cast<double>(ns) * 1e-9),
               fmt::format("{:.1f} %", 100.0 * static_cast<double>(ns) / whole)});
  };
  for (std::size_t i = 0; i < hw::kCauses; ++i) row(kCauseWords[i], ledger.by_cause[i].count);
  row(kIdleWords, result.end().ns - begin.count - ledger.total().count);
  fmt::print("{}", table.text({1, 2}));
  constexpr double kWorthALine = 0.1;
  if (const double share = result.extrapolated_share(); share >= kWorthALine)
    fmt::print(
        "  {:.0f} % of the kernels' time is outside the sizes or machines that were measured\n",
        100.0 * share);
  fmt::print("\n");
}

void print_energy(const sim::RunResult& result, const sim::Metrics& m) {
  const auto joules = sim::energy_joules(result);
  if (!joules || m.output_tokens == 0) return;
  fmt::print("  energy, roughly: {:.3g} kJ, {:.2g} J an output token\n\n", *joules * 1e-3,
             *joules / static_cast<double>(m.output_tokens));
}

void print_result(const sim::RunResult& result, const sim::Metrics& m) {
  const sim::Scenario& s = result.scenario;
  fmt::print("{}: {} on {}, {}\n\n", s.name, s.model.name, s.gpu.name, s.stack.name);
  if (result.interrupted)
    fmt::print("Stopped by Ctrl-C; what follows covers the time until then.\n\n");
  for (const std::string& note : result.notes) fmt::print("note: {}\n", note);
  if (m.requests > 0) {
    fmt::print("  {} requests: {} answered, {} refused, {} unfinished; {} preemptions\n",
               counted(m.requests), counted(m.completed), counted(m.refused),
               counted(m.interrupted), counted(m.preemptions));
    fmt::print("  {} prompt and {} output tokens in {}: {} requests/s, {} output tokens/s\n",
               counted(m.input_tokens), counted(m.output_tokens), duration(m.duration_seconds),
               number(m.per_second(static_cast<double>(m.completed))),
               number(m.per_second(static_cast<double>(m.output_tokens))));
    fmt::print(
        "  KV cache: {} blocks of {} tokens, at most {:.1f} % used; at most {} running, {} "
        "waiting\n",
        counted(result.memory.kv_blocks), s.engine.block_size, 100.0 * m.peak_kv_usage,
        m.peak_running, m.peak_waiting);
    if (m.prefix_cache_hit_tokens > 0)
      fmt::print("  prefix cache: {:.1f} % of the prompt tokens found\n",
                 100.0 * m.prefix_cache_hit_rate());
    if (m.draft_tokens > 0)
      fmt::print("  speculation: {:.1f} % of {} drafts accepted, {:.2f} tokens a decode\n",
                 100.0 * m.acceptance_rate(), counted(m.draft_tokens), result.tokens_per_decode());
    fmt::print("\n");
    print_latency(m);
  }
  fmt::print("  {} steps\n", counted(static_cast<std::int64_t>(result.steps.size())));
  print_ledger(result);
  print_energy(result, m);
}

int run(const Options& options) {
  if (options.out && options.out->empty())
    throw core::ConfigError("--out: expected a directory, got ''");
  const auto library = core::ConfigLibrary::standard();
  std::vector<sim::Override> overrides;
  for (const std::string& text : options.overrides) overrides.push_back(sim::parse_override(text));
  const sim::Scenario scenario = whatif::open_scenario(options.scenario, overrides, library);

  sim::RunResult result;
  {
    Progress progress(!options.quiet);
    sim::RunOptions run_options;
    run_options.progress = [&](std::size_t answered, std::size_t in_all, core::Instant now) {
      return progress.report(answered, in_all, now);
    };
    result = sim::run(scenario, run_options);
  }
  const sim::Metrics metrics = sim::measure(result);
  const std::optional<diagnosis::Diagnosis> answer = whatif::diagnose_run(result, metrics);
  if (options.out)
    sim::write_run_directory(result,
                             *options.out);  // last: what cannot be diagnosed leaves nothing behind
  if (options.json) {
    nlohmann::ordered_json json;
    json["result"] = sim::result_json(result, metrics);
    if (answer) json["diagnosis"] = diagnosis::to_json(*answer);
    if (options.out) json["directory"] = *options.out;
    fmt::print("{}\n", json.dump(2));
  } else {
    print_result(result, metrics);
    if (answer) fmt::print("{}", diagnosis::to_text(*answer));
    if (options.out)
      fmt::print("\nThe run is in {0}; 'ridgeline trace {0}' shows its kernels.\n", *options.out);
  }
  return result.interrupted ? kInterrupted : kDone;
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("scenario", options->scenario,
                 "a scenario file, or the name of a shipped one (see 'ridgeline list scenarios')")
      ->required()
      ->type_name("SCENARIO");
  add_overrides(app, options->overrides);
  app.add_option(
         "--out", options->out,
         "directory to keep the run in: scenario.yaml, result.json, requests.csv, steps.bin")
      ->type_name("DIR");
  app.add_flag("--json", options->json, "for machines: {result, diagnosis}");
  app.add_flag("--quiet", options->quiet, "no progress on stderr");
  app.footer(
      "\nFor example:\n"
      "  ridgeline run chat_8b --set hw=mi325x --set engine.max_num_seqs=64\n"
      "  ridgeline run chat_8b --set workload.trace=conv.csv --out runs/conv\n"
      "\nTTFT is the time to a request's first token, ITL the time between two of its tokens, TPOT "
      "the mean of these over a request, E2E\n"
      "the time to its last token.");
  return [options] { return run(*options); };
}

}  // namespace ridgeline::cli
