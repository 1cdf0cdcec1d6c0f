#include "whatif/quantities.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace ridgeline::whatif {
namespace {

using timeline::KernelClass;

double peak_flop(const Measured& m) {
  return m.result.scenario.gpu.peak[m.result.scenario.model.math].value();
}
double peak_hbm(const Measured& m) { return m.result.scenario.gpu.hbm.bandwidth.value(); }
double weights(const Measured& m) { return m.result.scenario.model.weight_bytes().value(); }

/// Tokens that came out in the window, over its length; idle time counts.
double output_rate(const Measured& m) {
  const double tokens = m.result.output_tokens(
      [&](const sim::StepRecord& step) { return m.window.holds(step.start); });
  core::Instant first = core::kNever;
  core::Instant last{};
  for (const sim::StepRecord& step : m.result.steps) {
    if (!m.window.holds(step.start)) continue;
    first = std::min(first, step.start);
    last = std::max(last, step.end());
  }
  return tokens > 0.0 ? tokens / (last - first).seconds().value() : 0.0;
}

/// KV cache of the largest batch at the longest context that occurred.
double fullest_kv_bytes(const Measured& m) {
  std::int64_t longest = 0;
  for (const sim::RequestRecord& r : m.result.requests)
    longest = std::max(longest, r.prompt_tokens + r.output_tokens);
  const sim::Scenario& s = m.result.scenario;
  return s.model.kv_bytes_per_token(s.engine.kv_cache_dtype).value() *
         static_cast<double>(longest * m.metrics.peak_running);
}

double share(const Measured& m, KernelClass c) { return m.profile.share(c); }

}  // namespace

const std::vector<Quantity>& quantities() {
  // A new quantity is one line here.
  static const std::vector<Quantity> table{
      {"ceiling_tokens_per_second", "tokens/s",
       "one sequence, if a step were its weights at peak bandwidth",
       [](const Measured& m) { return peak_hbm(m) / weights(m); }},
      {"ceiling_steps_per_second", "steps/s",
       "if a step were its weights and the fullest KV cache at peak bandwidth",
       [](const Measured& m) { return peak_hbm(m) / (weights(m) + fullest_kv_bytes(m)); }},
      {"tokens_per_second", "tokens/s", "output tokens of all sequences", output_rate},
      {"tokens_per_second_per_sequence", "tokens/s", "one over the mean time between two tokens",
       [](const Measured& m) {
         return m.metrics.itl.mean > 0.0 ? m.result.tokens_per_decode() / m.metrics.itl.mean : 0.0;
       }},
      {"ttft_seconds", "s", "median time to first token",
       [](const Measured& m) { return m.metrics.ttft.p50; }},
      {"itl_seconds", "s", "mean time between two tokens",
       [](const Measured& m) { return m.metrics.itl.mean; }},
      {"hbm_fraction", "1", "HBM bytes moved / time / peak, over the profiled steps",
       [](const Measured& m) { return m.profile.hbm_rate().value() / peak_hbm(m); }},
      {"flop_fraction", "1", "FLOP issued (padding counted) / time / peak, over the profiled steps",
       [](const Measured& m) { return m.profile.issued_rate().value() / peak_flop(m); }},
      {"issued_flop_fraction", "1", "the same as flop_fraction",
       [](const Measured& m) { return m.profile.issued_rate().value() / peak_flop(m); }},
      {"useful_flop_fraction", "1",
       "FLOP the mathematics needs / time / peak, over the profiled steps",
       [](const Measured& m) { return m.profile.useful_rate().value() / peak_flop(m); }},
      {"transient_bytes", "B", "largest allocation that one kernel's result lives in and dies with",
       [](const Measured& m) { return m.profile.transient.value(); }},
      {"attention_share", "1", "attention kernels, softmax included, of the profiled steps' time",
       [](const Measured& m) {
         core::Nanoseconds sum{};
         for (const KernelClass c :
              {KernelClass::attention, KernelClass::attention_scores, KernelClass::softmax}) {
           if (const auto it = m.profile.by_class.find(c); it != m.profile.by_class.end())
             sum += it->second.time;
         }
         return m.profile.time.count == 0 ? 0.0 : sum.seconds() / m.profile.time.seconds();
       }},
      {"share_gemm", "1", "linear layers, of kernel time",
       [](const Measured& m) { return share(m, KernelClass::gemm); }},
      {"share_flash_attention", "1", "fused attention, forward and backward, of kernel time",
       [](const Measured& m) { return share(m, KernelClass::attention); }},
      {"share_layer_norm", "1", "norms, of kernel time",
       [](const Measured& m) { return share(m, KernelClass::norm); }},
      {"share_elementwise", "1", "adds, multiplies and activation functions, of kernel time",
       [](const Measured& m) { return share(m, KernelClass::elementwise); }},
      {"share_cast", "1", "dtype casts, of kernel time",
       [](const Measured& m) { return share(m, KernelClass::cast); }},
      {"kernels_per_step", "kernels", "kernels launched in a profiled step",
       [](const Measured& m) { return m.profile.kernels_per_step(); }},
      {"kernels_within_6_30us", "1", "kernels that last 6 to 30 us",
       [](const Measured& m) {
         return timeline::share_within(m.profile.kernel_lengths, core::Seconds{6e-6},
                                       core::Seconds{30e-6});
       }},
      {"gaps_within_8_15us", "1", "gaps between kernels of a step that last 8 to 15 us",
       [](const Measured& m) {
         return timeline::share_within(m.profile.gap_lengths, core::Seconds{8e-6},
                                       core::Seconds{15e-6});
       }},
  };
  return table;
}

const Quantity& quantity(std::string_view name) {
  for (const Quantity& q : quantities()) {
    if (q.name == name) return q;
  }
  throw core::InvariantError("no quantity named " + std::string(name));
}

std::vector<std::string> quantity_names() {
  std::vector<std::string> names;
  for (const Quantity& q : quantities()) names.emplace_back(q.name);
  return names;
}

}  // namespace ridgeline::whatif
