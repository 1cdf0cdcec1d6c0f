#include "whatif/synthesis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sim/step_model.hpp"
#include "whatif/draw.hpp"

namespace ridgeline::whatif {
namespace {

constexpr std::size_t kBins = 8;
constexpr double kFaster = 1.1;

enum Limiter : std::size_t { kCompute, kBandwidth, kOverhead, kLimiters };
constexpr std::array<const char*, kLimiters> kLimiterNames{"compute", "bandwidth", "overhead"};

struct Server {
  sim::Scenario scenario;
  workloads::StepShape shape;
};

/// The servers people run, as far as their steps go: models of 7 to 70 B on an MI300X, tuned and
/// untuned stacks, fast and slow hosts.
class ServerMaker {
 public:
  ServerMaker() {
    const auto library = core::ConfigLibrary::standard();
    for (const char* stack : {"vllm_v1", "pytorch_eager"}) {
      for (const char* model :
           {"llama2_7b", "llama3_8b", "llama2_13b", "codellama_34b", "llama3_70b"}) {
        bases_.push_back(sim::load_scenario("chat_8b",
                                            {{"model", model},
                                             {"stack", stack},
                                             {"engine.max_model_len", "4096"},
                                             {"engine.async_scheduling", "false"}},
                                            library));
      }
    }
  }

  [[nodiscard]] Server make(Draw draw) const {
    Server server{bases_[draw.one_of(bases_.size())], {}};
    sim::Scenario& s = server.scenario;
    constexpr std::array<hw::Dtype, 3> kWeights{hw::Dtype::bf16, hw::Dtype::int8, hw::Dtype::int4};
    s.model.weights = kWeights[draw.one_of(kWeights.size())];
    s.stack.efficiency.compute.fill(draw.uniform(0.3, 1.0));
    s.stack.efficiency.bandwidth.fill(draw.uniform(0.4, 1.0));
    s.stack.host.step = core::round_to_ns(core::Seconds{draw.log_uniform(1e-4, 2e-2)});
    s.stack.host.per_sequence = core::round_to_ns(core::Seconds{draw.log_uniform(1e-6, 1e-4)});

    const std::int64_t sequences = draw.whole(1, 512);
    const std::int64_t context = draw.whole(64, 8192);
    for (std::int64_t i = 0; i < sequences; ++i) server.shape.add_decode(context);
    if (draw.chance(0.4)) {
      const std::int64_t chunk = draw.whole(16, 8192);
      server.shape.add_prefill(chunk, chunk, true);
    }
    return server;
  }

 private:
  std::vector<sim::Scenario> bases_;
};

sim::StepTiming time_of(const sim::Scenario& scenario, const workloads::StepShape& shape) {
  sim::StepModel model(scenario);
  return model.run(model.prepare(shape));
}

core::Nanoseconds shortened(core::Nanoseconds t) {
  return core::round_to_ns(t.seconds() / kFaster);
}

Limiter true_limiter(const Server& server, core::Nanoseconds now) {
  std::array<sim::Scenario, kLimiters> faster{server.scenario, server.scenario, server.scenario};
  for (const auto& dtype : hw::dtype_names()) faster[kCompute].gpu.peak[dtype.value] *= kFaster;
  faster[kBandwidth].gpu.hbm.bandwidth *= kFaster;
  hw::LaunchSpec& launch = faster[kOverhead].stack.launch;
  for (core::Nanoseconds* t :
       {&launch.issue, &launch.doorbell, &launch.dispatch, &launch.floor, &launch.graph_submit,
        &launch.graph_node, &launch.graph_dispatch, &launch.graph_floor,
        &faster[kOverhead].stack.host.step, &faster[kOverhead].stack.host.per_sequence}) {
    *t = shortened(*t);
  }
  faster[kOverhead].gpu.hbm.ramp =
      faster[kOverhead].gpu.hbm.ramp / kFaster;  // a fixed cost of every kernel too
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < kLimiters; ++i) {
    const std::int64_t gain = (now - time_of(faster[i], server.shape).duration()).count;
    if (gain > most) {
      most = gain;
      best = i;
    }
  }
  return static_cast<Limiter>(best);
}

struct View {
  const Server& server;
  const sim::StepTiming& timing;
  [[nodiscard]] double seconds() const { return timing.duration().seconds().value(); }
};

struct Cheap {
  const char* name;
  const char* meaning;
  double (*of)(const View&);
};

/// What can be had from a server in a minute. A new one is one line.
constexpr std::array kCheap{
    Cheap{"flop_fraction", "achieved FLOP rate / peak, over a step",
          [](const View& v) {
            return v.timing.execution.issued.value() / v.seconds() /
                   v.server.scenario.gpu.peak[hw::Dtype::bf16].value();
          }},
    Cheap{"hbm_fraction", "achieved HBM bandwidth / peak, over a step",
          [](const View& v) {
            return v.timing.execution.hbm.value() / v.seconds() /
                   v.server.scenario.gpu.hbm.bandwidth.value();
          }},
    Cheap{"busy_fraction", "share of a step with some kernel running",
          [](const View& v) { return v.timing.ledger.busy().seconds().value() / v.seconds(); }},
    Cheap{"step_time", "length of a step", [](const View& v) { return v.seconds(); }},
    Cheap{"tokens_per_second", "output tokens of all sequences",
          [](const View& v) { return static_cast<double>(v.server.shape.sampled) / v.seconds(); }},
    Cheap{"batch", "sequences decoding together",
          [](const View& v) { return static_cast<double>(v.server.shape.decode_sequences); }},
    Cheap{"context", "tokens in a decoding sequence",
          [](const View& v) {
            return static_cast<double>(v.server.shape.decode_context) /
                   static_cast<double>(v.server.shape.decode_sequences);
          }},
    Cheap{"parameters", "size of the model",
          [](const View& v) { return static_cast<double>(v.server.scenario.model.parameters()); }},
    Cheap{"kernel_length", "mean length of a kernel",
          [](const View& v) {
            return v.timing.ledger.busy().seconds().value() /
                   static_cast<double>(v.timing.execution.kernels);
          }},
};

/// Which of the equally filled ranges each value falls in; equal values fall in the same one.
std::vector<std::size_t> ranges_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> out;
  out.reserve(values.size());
  for (const double v : values) {
    const auto below = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), v) -
                                                sorted.begin());
    out.push_back(below * kBins / values.size());
  }
  return out;
}

double entropy(const std::vector<double>& counts) {
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double bits = 0.0;
  for (const double c : counts) {
    if (c > 0.0) bits -= c / n * std::log2(c / n);
  }
  return bits;
}

/// I(cell; label) = H(cell) + H(label) - H(cell, label).
double information(const std::vector<std::size_t>& cells, std::size_t cell_count,
                   const std::vector<Limiter>& labels) {
  std::vector<double> cell(cell_count);
  std::vector<double> label(kLimiters);
  std::vector<double> both(cell_count * kLimiters);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ++cell[cells[i]];
    ++label[labels[i]];
    ++both[cells[i] * kLimiters + labels[i]];
  }
  return entropy(cell) + entropy(label) - entropy(both);
}

}  // namespace

Synthesis synthesize(std::int64_t servers, std::uint64_t seed) {
  const ServerMaker maker;
  std::vector<Limiter> labels;
  std::array<std::vector<double>, kCheap.size()> values;
  for (std::int64_t i = 0; i < servers; ++i) {
    const Server server = maker.make(Draw(seed, "synthesis", i));
    const sim::StepTiming timing = time_of(server.scenario, server.shape);
    labels.push_back(true_limiter(server, timing.duration()));
    for (std::size_t k = 0; k < kCheap.size(); ++k)
      values[k].push_back(kCheap[k].of({server, timing}));
  }

  Synthesis out;
  out.servers = servers;
  std::vector<double> counts(kLimiters);
  for (const Limiter label : labels) {
    ++counts[label];
    ++out.limiters[kLimiterNames[label]];
  }
  out.label_bits = entropy(counts);
  std::array<std::vector<std::size_t>, kCheap.size()> ranges;
  for (std::size_t k = 0; k < kCheap.size(); ++k) {
    ranges[k] = ranges_of(values[k]);
    out.measurements.push_back(
        {kCheap[k].name, kCheap[k].meaning, information(ranges[k], kBins, labels)});
  }
  for (std::size_t a = 0; a < kCheap.size(); ++a) {
    for (std::size_t b = a + 1; b < kCheap.size(); ++b) {
      std::vector<std::size_t> cells(labels.size());
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = ranges[a][i] * kBins + ranges[b][i];
      out.pairs.push_back(
          {kCheap[a].name, kCheap[b].name, information(cells, kBins * kBins, labels)});
    }
  }
  const auto more_telling = [](const auto& a, const auto& b) { return a.bits > b.bits; };
  std::stable_sort(out.measurements.begin(), out.measurements.end(), more_telling);
  std::stable_sort(out.pairs.begin(), out.pairs.end(), more_telling);
  return out;
}

}  // namespace ridgeline::whatif
