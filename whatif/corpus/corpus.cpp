#include "whatif/corpus/corpus.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "sim/run.hpp"
#include "whatif/corpus/views.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::whatif {
namespace {

/// Draws that fit no machine are drawn again; every other one fits.
constexpr std::int64_t kMostTries = 256;

std::string title_of(const Server& server) {
  const ServerSketch& s = server.sketch;
  const std::string gpus = s.tensor > 1 ? fmt::format("{} x ", s.tensor) : "";
  const std::string where =
      fmt::format("{} on {}{}", s.model->spec.name, gpus, s.machine->spec.name);
  switch (s.load) {
    case LoadKind::training:
      return fmt::format("{}, a training step of {} x {} tokens", where, s.batch, s.prompt);
    case LoadKind::prompts_alone:
      return fmt::format("{}, {}, time to the first token", where, s.stack->spec.name);
    case LoadKind::one_at_a_time:
      return fmt::format("{}, {}, one request at a time", where, s.stack->spec.name);
    case LoadKind::saturated:
      return fmt::format("{}, {}, {} clients", where, s.stack->spec.name, s.batch);
    default:
      return fmt::format("{}, {}, requests as they come", where, s.stack->spec.name);
  }
}

diagnosis::Evidence read_text(const std::string& text, const core::ConfigLibrary& library) {
  return read_typed_evidence(core::parse_yaml(text, "typed"), library);
}

/// A run worth looking at, and short enough for being run some thirty times.
bool tells_something(const sim::RunResult& result, const sim::Metrics& metrics) {
  const bool training =
      std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload);
  constexpr std::size_t kMostSteps = 3000;
  return !result.steps.empty() && result.steps.size() <= kMostSteps &&
         (training || metrics.completed > 0);
}

}  // namespace

CorpusItem make_item(const ServerPool& pool, std::uint64_t seed, std::int64_t index,
                     const CorpusOptions& options) {
  for (std::int64_t i = 0; i < kMostTries; ++i) {
    Draw draw(seed, "corpus", index * kMostTries + i);
    constexpr std::uint64_t kReadable = 1'000'000'000;  // a seed that one can type
    const std::uint64_t own_seed =
        core::RandomStream(seed, "corpus requests").bits(static_cast<std::uint64_t>(index)) %
        kReadable;
    auto server = draw_server(pool, draw, own_seed);
    if (!server) continue;
    const std::string title = title_of(*server);
    server->scenario.name = title;
    core::set_path(server->document, "name", fmt::format("'{}'", title), "corpus");
    core::set_path(server->scenario.document, "name", fmt::format("'{}'", title), "corpus");
    try {
      sim::RunResult result = sim::run(server->scenario);
      const sim::Metrics metrics = sim::measure(result);
      if (!tells_something(result, metrics)) continue;
      CorpusItem item{.index = index,
                      .title = title,
                      .server = std::move(*server),
                      .result = std::move(result),
                      .throughput_text = {},
                      .percentages_text = {},
                      .throughput = {},
                      .percentages = {},
                      .timeline = {},
                      .label = {}};
      item.timeline = observe_run(item.result, metrics, telling_part(item.result));
      const RunView view{item.server, item.result, metrics, item.timeline};
      item.throughput_text = typed_throughput(view);
      item.percentages_text = typed_percentages(view, draw);
      item.throughput = read_text(item.throughput_text, pool.configs);
      item.percentages = read_text(item.percentages_text, pool.configs);
      item.label = label_of(item.result, metrics);
      item.label.faults = item.server.sketch.faults;
      if (options.gains)
        item.label.gains = true_gains(item.server.scenario, item.label, pool.configs);
      return item;
    } catch (const core::SimulationError&) {
      continue;  // it does not fit into memory, or would take too long
    }
  }
  throw core::InvariantError(
      fmt::format("none of {} servers drawn for item {} can run", kMostTries, index));
}

std::vector<CorpusItem> generate(const ServerPool& pool, std::int64_t n, std::uint64_t seed,
                                 const CorpusOptions& options) {
  std::vector<CorpusItem> items;
  items.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) items.push_back(make_item(pool, seed, i, options));
  return items;
}

}  // namespace ridgeline::whatif
