// What no machine can do, no simulated one may: over thousands of random steps, no step is shorter
// than its bytes at peak bandwidth or its arithmetic at peak rate, and better hardware is never
// slower. The floors are added up here from the model's dimensions, one sequence at a time, and not
// from anything that the code under test computed.

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "tests/hw/scenarios.hpp"
#include "workloads/lower_training.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::Flop;
using ridgeline::core::Nanoseconds;
using ridgeline::tests::RandomScenario;
using ridgeline::tests::RandomScenarios;
using ridgeline::tests::SequenceShape;
using ridgeline::workloads::Feedforward;
using ridgeline::workloads::ModelSpec;

double number(std::int64_t n) { return static_cast<double>(n); }

/// Elements of all weight matrices of one layer: q, k, v, o and the two or three of the
/// feedforward.
double matrix_elements(const ModelSpec& m) {
  const double q = number(m.hidden * m.heads * m.head_dim);
  const double kv = number(m.hidden * m.kv_heads * m.head_dim);
  return 2.0 * q + 2.0 * kv +
         (m.feedforward == Feedforward::swiglu ? 3.0 : 2.0) * number(m.hidden * m.ffn);
}

struct Needs {
  double bytes = 0.0;           // weights once, and the KV cache of every context
  double linear_flop = 0.0;     // 2 FLOP a weight and token
  double head_flop = 0.0;       // of the logits of every sequence that samples
  double attention_flop = 0.0;  // 4 FLOP a query element and key it may see
};

Needs needs_of(const RandomScenario& s) {
  const ModelSpec& m = s.model;
  const double layers = number(m.layers);
  const double kv_token =
      bytes_of(s.kv_cache).value() * 2.0 * number(m.kv_heads * m.head_dim) * layers;
  const double width = number(m.heads * m.head_dim);
  Needs needs;
  needs.bytes = bytes_of(m.weights).value() * matrix_elements(m) * layers;
  double sampled = 0.0;
  for (const SequenceShape& sequence : s.sequences) {
    needs.bytes += kv_token * number(sequence.context);
    needs.linear_flop += 2.0 * matrix_elements(m) * layers * number(sequence.q);
    double pairs = 0.0;  // of a new token and a key that it may see
    for (std::int64_t i = 0; i < sequence.q; ++i) pairs += number(sequence.context - i);
    needs.attention_flop += 4.0 * width * pairs * layers;
    if (sequence.samples) sampled += 1.0;
  }
  if (sampled > 0.0) needs.bytes += bytes_of(m.activations).value() * number(m.hidden * m.vocab);
  needs.head_flop = 2.0 * number(m.hidden * m.vocab) * sampled;
  return needs;
}

void require_bounds(const RandomScenario& s, double& tightest_memory, double& tightest_compute) {
  const Execution step = s.execute();
  const Needs needs = needs_of(s);
  const double seconds = step.device_end.seconds().value();
  const double memory = needs.bytes / s.gpu.hbm.bandwidth.value();
  const double compute =
      needs.linear_flop / s.gpu.peak[s.model.math].value() +
      (needs.head_flop + needs.attention_flop) / s.gpu.peak[s.model.activations].value();
  constexpr double kRounding = 1e-12;  // of the sums here
  REQUIRE(seconds >= memory * (1.0 - kRounding));
  REQUIRE(seconds >= compute * (1.0 - kRounding));
  REQUIRE(step.hbm.value() >= needs.bytes * (1.0 - kRounding));
  REQUIRE(step.issued.value() >= step.useful.value() * (1.0 - kRounding));
  REQUIRE(step.issued.value() >=
          (needs.linear_flop + needs.head_flop + needs.attention_flop) * (1.0 - kRounding));
  REQUIRE(step.ledger.total() == step.device_end);
  REQUIRE(step.host_free <= step.device_end);
  tightest_memory = std::min(tightest_memory, seconds / memory);
  tightest_compute = std::min(tightest_compute, seconds / compute);
}

TEST_CASE(
    "No step is shorter than its weights and KV cache at peak bandwidth, or its arithmetic at peak "
    "rate",
    "[hw][physics]") {
  RandomScenarios scenarios("bounds");
  double memory = INFINITY;
  double compute = INFINITY;
  for (int i = 0; i < 20'000; ++i) {
    const RandomScenario s = scenarios.next();
    INFO("scenario " << i << " on " << s.gpu.name << ", " << s.sequences.size() << " sequences");
    require_bounds(s, memory, compute);
  }
}

TEST_CASE(
    "A machine without losses comes within a few percent of the bounds and does not cross them",
    "[hw][physics]") {
  RandomScenarios scenarios("ideal");
  double memory = INFINITY;
  double compute = INFINITY;
  for (int i = 0; i < 20'000; ++i) {
    RandomScenario s = scenarios.next();
    s.efficiency = {};
    s.launch = {};
    s.mode = LaunchMode::graph;
    for (const auto& dtype : dtype_names()) s.gpu.sustained[dtype.value] = 1.0;
    s.gpu.hbm.sustained = 1.0;
    s.gpu.hbm.ramp = {};
    s.gpu.cache.bandwidth *= 1e3;
    s.gpu.gemm.tile_load = s.gpu.gemm.extra_k = 0.0;
    s.gpu.gemm.split_cost = {};
    s.gpu.gemm.families.clear();  // what was measured has losses
    s.gpu.attention = {};
    s.gpu.passes.reset();
    s.gpu.moe = {};
    INFO("scenario " << i << " on " << s.gpu.name << ", " << s.sequences.size() << " sequences");
    require_bounds(s, memory, compute);
  }
  CHECK(memory < 1.02);  // else the bounds are too loose to notice a machine that cheats a little
  CHECK(compute < 1.05);
}

TEST_CASE("The useful work of a step is what its mathematics needs", "[hw][physics]") {
  RandomScenarios scenarios("useful");
  for (int i = 0; i < 1'000; ++i) {
    RandomScenario s = scenarios.next();
    s.padding = 0;  // a padded row is work too
    s.lowering.prefill_attention = ridgeline::workloads::PrefillAttention::fused;
    const Needs needs = needs_of(s);
    REQUIRE(s.execute().useful.value() ==
            Approx(needs.linear_flop + needs.head_flop + needs.attention_flop).epsilon(1e-9));
  }
}

TEST_CASE("Materialised attention needs the same useful work, also of unequal chunks",
          "[hw][physics]") {
  RandomScenarios scenarios("useful");
  RandomScenario s = scenarios.next();
  s.padding = 0;
  s.lowering.prefill_attention = ridgeline::workloads::PrefillAttention::materialised;
  s.sequences = {{true, 1, 1, true}, {true, 1, 2, true}};  // one pair, two pairs: three in all
  const Needs needs = needs_of(s);
  CHECK(s.execute().useful.value() ==
        Approx(needs.linear_flop + needs.head_flop + needs.attention_flop).epsilon(1e-9));
}

/// A change of the machine and what it is called.
struct Change {
  const char* what;
  std::function<void(RandomScenario&, double factor)> better;  // factor above 1
};

Nanoseconds shorter(Nanoseconds time, double factor) {
  return {static_cast<std::int64_t>(number(time.count) / factor)};
}

TEST_CASE("Better hardware never makes a step longer", "[hw][physics]") {
  const std::vector<Change> changes{
      {"peak rate",
       [](RandomScenario& s, double f) {
         for (const auto& d : dtype_names()) s.gpu.peak[d.value] *= f;
       }},
      {"HBM bandwidth", [](RandomScenario& s, double f) { s.gpu.hbm.bandwidth *= f; }},
      {"cache bandwidth", [](RandomScenario& s, double f) { s.gpu.cache.bandwidth *= f; }},
      {"cache capacity", [](RandomScenario& s, double f) { s.gpu.cache.capacity *= f; }},
      {"ramp", [](RandomScenario& s, double f) { s.gpu.hbm.ramp *= 1.0 / f; }},
      {"split cost", [](RandomScenario& s, double f) { s.gpu.gemm.split_cost *= 1.0 / f; }},
      {"issue", [](RandomScenario& s, double f) { s.launch.issue = shorter(s.launch.issue, f); }},
      {"doorbell",
       [](RandomScenario& s, double f) { s.launch.doorbell = shorter(s.launch.doorbell, f); }},
      {"dispatch",
       [](RandomScenario& s, double f) { s.launch.dispatch = shorter(s.launch.dispatch, f); }},
      {"floor", [](RandomScenario& s, double f) { s.launch.floor = shorter(s.launch.floor, f); }},
      {"graph submission",
       [](RandomScenario& s, double f) {
         s.launch.graph_submit = shorter(s.launch.graph_submit, f);
       }},
      {"graph node",
       [](RandomScenario& s, double f) { s.launch.graph_node = shorter(s.launch.graph_node, f); }},
      {"graph dispatch",
       [](RandomScenario& s, double f) {
         s.launch.graph_dispatch = shorter(s.launch.graph_dispatch, f);
       }},
      {"graph floor", [](RandomScenario& s,
                         double f) { s.launch.graph_floor = shorter(s.launch.graph_floor, f); }},
      {"queue depth",
       [](RandomScenario& s, double f) {
         s.launch.queue_depth = std::llround(number(s.launch.queue_depth) * f);
       }},
      {"gemm efficiency",
       [](RandomScenario& s, double f) {
         double& e = s.efficiency.compute[0];
         e = std::min(1.0, e * f);
       }},
      {"gemm bandwidth",
       [](RandomScenario& s, double f) {
         double& e = s.efficiency.bandwidth[0];
         e = std::min(1.0, e * f);
       }},
      {"blocking", [](RandomScenario& s, double) { s.launch.blocking = false; }},
      {"tuning", [](RandomScenario& s, double) { s.efficiency.tuned_gemms = true; }},
  };
  RandomScenarios scenarios("better");
  for (int i = 0; i < 400; ++i) {
    const RandomScenario before = scenarios.next();
    const Nanoseconds time = before.execute().device_end;
    for (const Change& change : changes) {
      RandomScenario after = before;
      change.better(after, scenarios.number(1.0, 3.0));
      INFO("scenario " << i << " on " << before.gpu.name << ": better " << change.what);
      REQUIRE(after.execute().device_end <= time);
    }
  }
}

/// More compute units, each as fast as before.
void add_units(GpuSpec& gpu, std::int64_t units) {
  const double ratio = number(gpu.compute_units + units) / number(gpu.compute_units);
  for (const auto& dtype : dtype_names()) gpu.peak[dtype.value] *= ratio;
  gpu.compute_units += units;
}

TEST_CASE("More compute units of the same rate and bandwidth each never make a step longer",
          "[hw][physics]") {
  RandomScenarios scenarios("units");
  for (int i = 0; i < 1'000; ++i) {
    const RandomScenario before = scenarios.next();
    RandomScenario after = before;
    add_units(after.gpu, scenarios.integer(1, 300));
    after.gpu.hbm.bandwidth *= number(after.gpu.compute_units) / number(before.gpu.compute_units);
    INFO("scenario " << i << " on " << before.gpu.name << ": " << after.gpu.compute_units
                     << " units");
    REQUIRE(after.execute().device_end <=
            before.execute().device_end + Nanoseconds{before.execute().kernels});  // rounding
  }
}

TEST_CASE("A longer context never makes a decode step shorter", "[hw][physics]") {
  RandomScenarios scenarios("context");
  for (int i = 0; i < 1'500; ++i) {
    RandomScenario s = scenarios.next();
    for (SequenceShape& sequence : s.sequences) sequence = {false, 1, sequence.context, true};
    const Execution before = s.execute();
    for (SequenceShape& sequence : s.sequences) {
      if (scenarios.chance(0.5)) sequence.context += scenarios.integer(0, 10'000);
    }
    const Execution after = s.execute();
    REQUIRE(after.device_end >= before.device_end);
    REQUIRE(after.hbm >= before.hbm);
  }
}

TEST_CASE(
    "A graph of the same kernels is never longer than launching them, where its own costs are not",
    "[hw][physics]") {
  RandomScenarios scenarios("graphs");
  for (int i = 0; i < 500; ++i) {
    RandomScenario s = scenarios.next();
    s.launch.graph_floor = s.launch.floor;
    s.launch.graph_dispatch = s.launch.dispatch;
    s.launch.graph_submit = s.launch.issue;
    s.launch.graph_node = {};
    s.mode = LaunchMode::eager;
    const Nanoseconds eager = s.execute().device_end;
    s.mode = LaunchMode::graph;
    REQUIRE(s.execute().device_end <= eager);
  }
}

TEST_CASE(
    "No training step beats its arithmetic: 6 FLOP a weight and token, and 14 a query element and "
    "key",
    "[hw][physics]") {
  RandomScenarios scenarios("training");
  for (int i = 0; i < 500; ++i) {
    RandomScenario s = scenarios.next();
    const ModelSpec& m = s.model;
    const std::int64_t sequences = scenarios.integer(1, 8);
    const std::int64_t length = scenarios.integer(1, 4'096);
    KernelProgram program;
    ridgeline::workloads::lower_training(m, s.lowering, sequences, length, program);
    const Execution step = Gpu(s.gpu, s.efficiency, s.launch).execute(program, LaunchMode::eager);
    const double tokens = number(sequences * length);
    const double linear =
        6.0 * tokens * (matrix_elements(m) * number(m.layers) + number(m.hidden * m.vocab));
    const double pairs = tokens * (number(length) + 1.0) / 2.0;
    const double attention =
        4.0 * 3.5 * number(m.heads * m.head_dim * m.layers) * pairs;  // forward 1, backward 2.5
    REQUIRE(step.useful.value() == Approx(linear + attention).epsilon(1e-9));
    REQUIRE(step.issued.value() >= step.useful.value());
    REQUIRE(step.device_end.seconds().value() * (1.0 + 1e-12) >=
            linear / s.gpu.peak[m.math].value() + attention / s.gpu.peak[m.activations].value());
    REQUIRE(step.ledger.total() == step.device_end);
  }
}

}  // namespace
