#include "whatif/corpus/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/statistics.hpp"

namespace ridgeline::whatif {
namespace {

/// "27.8 ms": three digits.
std::string time_text(double seconds) {
  if (seconds >= 1.0) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string percent_text(double fraction) {
  return fraction < 0.1 ? fmt::format("{:.1f} %", 100.0 * fraction)
                        : fmt::format("{:.0f} %", 100.0 * fraction);
}

std::string rate_text(double rate) {
  return rate >= 100.0 ? fmt::format("{:.0f} tokens/s", rate)
                       : fmt::format("{:.1f} tokens/s", rate);
}

std::string whole_text(double x) { return fmt::format("{:.0f}", x); }

/// Lines of one section of the evidence; none, and the section is left out.
class Section {
 public:
  explicit Section(std::string name) : name_(std::move(name)) {}
  void put(std::string_view key, std::string_view value) {
    lines_ += fmt::format("  {}: {}\n", key, value);
  }
  [[nodiscard]] std::string text() const {
    return lines_.empty() ? std::string() : name_ + ":\n" + lines_;
  }

 private:
  std::string name_;
  std::string lines_;
};

std::string model_text(const ServerSketch& s, hw::Dtype kv_cache) {
  if (s.as_shipped) return fmt::format("model: {}\n", s.model->name);
  const workloads::ModelSpec& m = s.quantized;
  const auto count = [](std::int64_t n) {
    return fmt::format("{:.2f}e9", static_cast<double>(n) * 1e-9);
  };
  Section out("model");
  out.put("name", m.name);
  out.put("parameters", count(m.parameters()));
  if (m.has_experts()) out.put("active_parameters", count(m.active_parameters()));
  out.put("weight_bytes", fmt::format("{:.1f} GB", m.weight_bytes().value() * 1e-9));
  out.put("weight_dtype", hw::name_of(m.weights));
  out.put("activation_dtype", hw::name_of(m.math));
  out.put("kv_cache_dtype", hw::name_of(kv_cache));
  out.put("layers", std::to_string(m.layers));
  out.put("hidden", std::to_string(m.hidden));
  out.put("heads", std::to_string(m.heads));
  out.put("kv_heads", std::to_string(m.kv_heads));
  out.put("head_dim", std::to_string(m.head_dim));
  return out.text();
}

std::string head(const RunView& v) {
  const ServerSketch& s = v.server.sketch;
  std::string out =
      fmt::format("title: {}\nmachine: {}\n", v.result.scenario.name, s.machine->name);
  if (s.tensor > 1) out += fmt::format("devices: {}\n", s.tensor);
  if (s.load != LoadKind::training) {
    // Switches on the command line, or that the stack has no graphs: whoever runs the server knows
    // it.
    const sim::EngineSpec& engine = v.result.scenario.engine;
    const bool eager = engine.enforce_eager || !v.result.scenario.stack.graphs;
    out += fmt::format("engine: {{enforce_eager: {}, async_scheduling: {}}}\n", eager,
                       engine.async_scheduling);
  }
  return out + model_text(s, v.result.scenario.engine.kv_cache_dtype);
}

Section serving(const RunView& v) {
  const ServerSketch& s = v.server.sketch;
  Section out("serving");
  if (s.load == LoadKind::training) {
    out.put("microbatch", std::to_string(s.batch));
    out.put("sequence_tokens", std::to_string(s.prompt));
    return out;
  }
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&v.result.scenario.workload);
  const bool closed = std::holds_alternative<workloads::ClosedLoop>(generated->arrivals);
  out.put("arrivals", !closed ? "open" : s.batch == 1 ? "one_at_a_time" : "saturated");
  const diagnosis::Serving& seen = v.timeline.serving;
  out.put("prompt_tokens", whole_text(diagnosis::best_or(seen.prompt_tokens, 1.0)));
  out.put("output_tokens", whole_text(diagnosis::best_or(seen.output_tokens, 1.0)));
  return out;
}

/// What a benchmark prints of it.
Section measured(const RunView& v) {
  Section out("measured");
  const sim::Metrics& m = v.metrics;
  switch (v.server.sketch.load) {
    case LoadKind::training:
      out.put("throughput", rate_text(value_of(Objective::training_rate, v.result, v.metrics)));
      break;
    case LoadKind::prompts_alone:
      out.put("ttft", time_text(m.ttft.p50));
      break;
    case LoadKind::keeps_up:
      out.put("itl", time_text(m.itl.mean));
      [[fallthrough]];
    default:
      out.put("throughput", rate_text(m.per_second(static_cast<double>(m.output_tokens))));
  }
  return out;
}

/// The middle half of a run, as somebody sees it who looks at a gauge.
template <class Of>
double gauge(const sim::RunResult& result, Of&& of) {
  const std::size_t n = result.counters.size();
  std::vector<double> values;
  for (std::size_t i = n / 4; i < n - n / 4; ++i) values.push_back(of(result.counters[i]));
  return values.empty() ? 0.0 : core::summarize(values).p50;
}

void put_gauges(Section& out, const RunView& v) {
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, v.result.memory.kv_blocks));
  const double running = gauge(v.result, [](const sim::CounterRecord& c) { return c.running; });
  out.put("concurrency", whole_text(std::max(1.0, std::round(running))));
  out.put("kv_usage", percent_text(gauge(v.result, [&](const sim::CounterRecord& c) {
            return c.kv_blocks_used / blocks;
          })));
  out.put("waiting", whole_text(std::round(
                         gauge(v.result, [](const sim::CounterRecord& c) { return c.waiting; }))));
  if (v.metrics.preemptions > 0) out.put("preemptions", std::to_string(v.metrics.preemptions));
}

void put_kernel_time(Section& out, const diagnosis::Profile& seen) {
  constexpr double kWorthALine = 0.005;
  std::string shares;
  for (const auto& [group, share] : seen.kernel_time) {
    if (share.best < kWorthALine) continue;
    shares += fmt::format("{}{}: {}", shares.empty() ? "" : ", ", diagnosis::name_of(group),
                          percent_text(share.best));
  }
  if (!shares.empty()) out.put("kernel_time", "{" + shares + "}");
}

}  // namespace

std::string typed_throughput(const RunView& v) {
  Section how = serving(v);
  const ServerSketch& s = v.server.sketch;
  const bool clients_known = s.load == LoadKind::saturated || s.load == LoadKind::one_at_a_time ||
                             s.load == LoadKind::prompts_alone;
  if (clients_known) how.put("concurrency", std::to_string(s.batch));
  return head(v) + how.text() + measured(v).text();
}

std::string typed_percentages(const RunView& v, Draw& draw) {
  const diagnosis::Profile& seen = v.timeline.profile;
  const bool kernel_shares = draw.chance(0.75);
  const bool busy = !kernel_shares || draw.chance(0.7);
  Section how = serving(v);
  if (v.server.sketch.load != LoadKind::training) put_gauges(how, v);
  Section rates = measured(v);
  Section profile("profile");
  const auto fraction = [&](std::string_view key, const diagnosis::Maybe& value) {
    if (value) profile.put(key, percent_text(value->best));
  };
  profile.put("window", diagnosis::name_of(*seen.window));
  fraction("flop_fraction", seen.flop_fraction);
  fraction("hbm_fraction", seen.hbm_fraction);
  constexpr double kNoticed = 0.05;
  if (diagnosis::best_or(seen.idle_fraction, 0.0) >= kNoticed)
    fraction("idle_fraction", seen.idle_fraction);
  if (kernel_shares) put_kernel_time(profile, seen);
  if (busy && seen.busy_time && v.timeline.measured.step_time) {
    rates.put("step_time", time_text(v.timeline.measured.step_time->best));
    profile.put("busy_time", time_text(seen.busy_time->best));
  }
  return head(v) + how.text() + rates.text() + profile.text();
}

}  // namespace ridgeline::whatif
