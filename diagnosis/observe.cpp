#include "diagnosis/observe.hpp"

#include <algorithm>

#include "diagnosis/complete.hpp"

namespace ridgeline::diagnosis {

using timeline::KernelClass;

KernelGroup group_of(KernelClass c) {
  switch (c) {
    case KernelClass::gemm:
      return KernelGroup::gemm;
    case KernelClass::attention:
    case KernelClass::attention_scores:
    case KernelClass::softmax:
      return KernelGroup::attention;
    case KernelClass::norm:
      return KernelGroup::norm;
    case KernelClass::elementwise:
    case KernelClass::rope:
    case KernelClass::cache_write:
      return KernelGroup::elementwise;
    case KernelClass::cast:
      return KernelGroup::cast;
    case KernelClass::collective:
      return KernelGroup::collective;
    case KernelClass::copy:
      return KernelGroup::copy;
    case KernelClass::embedding:
    case KernelClass::sampling:
    case KernelClass::loss:
    case KernelClass::other:
      return KernelGroup::other;
  }
  return KernelGroup::other;
}

namespace {

Window window_of(const timeline::Summary& s) {
  if (s.training_steps > 0) return Window::training;
  // A step with any decoding sequence in it yields output; prompts alone, or nearly so, are
  // prefill.
  constexpr std::int64_t kDecodersPerStep = 2;
  const bool prompts_alone =
      s.prefill_tokens > 0 && kDecodersPerStep * s.decode_sequences < s.steps;
  const bool prompts_mostly = s.prefill_tokens > 20 * s.decode_sequences;
  return prompts_alone || prompts_mostly ? Window::prefill : Window::decode;
}

/// The range that all but the longest and shortest hundredth fall in.
Value range_of(const timeline::DurationCounts& counts) {
  const double low = timeline::quantile(counts, 0.01).value();
  const double high = timeline::quantile(counts, 0.99).value();
  const double middle = timeline::quantile(counts, 0.5).value();
  return {{low, std::max(low, high)},
          std::clamp(middle, low, std::max(low, high)),
          Origin::read,
          "timeline"};
}

std::int64_t most_common(const std::map<std::int64_t, std::int64_t>& counts) {
  const auto it = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.second < b.second;
  });
  return it != counts.end() ? it->first : 0;
}

Maybe above_zero(double x) { return x > 0.0 ? Maybe(read_exactly(x, "timeline")) : std::nullopt; }

}  // namespace

Evidence observe(const Observation& o) {
  const timeline::Summary& s = o.summary;
  const double time = s.time.seconds().value();
  if (s.steps <= 0 || !(time > 0.0)) {
    throw core::ConfigError(
        "timeline: expected at least one step with a length in the window observed, got none");
  }
  Evidence e;
  e.title = o.title;
  e.machine = machine_from(o.gpu);
  if (o.devices != 1.0) e.machine.devices = read_exactly(o.devices, "set-up");
  e.model = o.model;
  e.serving = o.serving;
  e.engine = o.engine;
  e.measured = o.measured;
  e.proposals = o.proposals;

  Profile& p = e.profile;
  p.window = window_of(s);
  // A unit of work is a step, or a whole prompt however many steps it was cut into.
  double units = static_cast<double>(s.steps);
  if (p.window == Window::prefill && !e.serving.prompt_tokens && s.prefill_sequences > 0) {
    e.serving.prompt_tokens = read_exactly(
        static_cast<double>(s.prefill_tokens) / static_cast<double>(s.prefill_sequences),
        "timeline");
  }
  if (p.window == Window::prefill && e.serving.prompt_tokens && s.prefill_tokens > 0) {
    units = static_cast<double>(s.prefill_tokens) / e.serving.prompt_tokens->best;
  }
  const auto per_unit = [&](core::Nanoseconds t) {
    return read_exactly(t.seconds().value() / units, "timeline");
  };
  e.measured.step_time = per_unit(s.time);
  p.busy_time = s.busy.count > 0 ? Maybe(per_unit(s.busy)) : std::nullopt;
  p.gap_time = per_unit(s.gaps);
  p.host_time = per_unit(s.host);
  p.kernels_per_step = above_zero(static_cast<double>(s.total.count) / units);
  if (!s.kernel_lengths.empty()) p.kernel_length = range_of(s.kernel_lengths);
  if (!s.gap_lengths.empty()) p.gap_length = range_of(s.gap_lengths);
  p.transient = above_zero(s.transient.value());
  if (p.window == Window::decode)
    p.gemm_rows = above_zero(static_cast<double>(most_common(s.gemm_m)));
  if (o.idle_fraction) p.idle_fraction = read_exactly(*o.idle_fraction, "run");

  if (p.window == Window::decode && s.decode_sequences > 0) {
    const double steps = static_cast<double>(s.steps);
    const double sequences = static_cast<double>(s.decode_sequences);
    e.serving.concurrency = read_exactly(sequences / steps, "timeline");
    e.serving.context_tokens = above_zero(static_cast<double>(s.decode_context) / sequences);
    e.serving.kv_bytes_per_sequence.reset();  // of some other context length
    e.serving.prefill_tokens_per_step =
        read_exactly(static_cast<double>(s.prefill_tokens) / steps, "timeline");
  }

  // Counters of one device, as fractions of what one can do.
  const Maybe peak = [&]() -> Maybe {
    const hw::Dtype dtype = o.model.activation_dtype.value_or(
        o.model.weight_dtype && hw::bytes_of(*o.model.weight_dtype).value() >= 2.0
            ? *o.model.weight_dtype
            : hw::Dtype::bf16);
    const auto it = e.machine.peak.find(dtype);
    return it != e.machine.peak.end() ? Maybe(it->second) : std::nullopt;
  }();
  const auto fraction = [&](double amount, double rate) {
    return amount > 0.0 && rate > 0.0 ? Maybe(read_exactly(amount / (time * rate), "counters"))
                                      : std::nullopt;
  };
  p.flop_fraction = fraction(s.total.issued.value(), best_or(peak, 0.0));
  p.useful_flop_fraction = fraction(s.total.useful.value(), best_or(peak, 0.0));
  p.hbm_fraction = fraction(s.total.hbm.value(), o.gpu.hbm.bandwidth.value());

  const double kernels = s.kernels_time.seconds().value();
  if (s.at_roofs.count > 0)
    p.near_roof = read_exactly(s.at_roofs.seconds() / s.under_roofs.seconds(), "timeline");
  if (s.at_matrix_roof.count > 0)
    p.by_matrix = read_exactly(
        s.at_matrix_roof.seconds() / (s.at_matrix_roof + s.at_hbm_roof).seconds(), "timeline");
  if (s.launches > 0) p.host_path = read_exactly(s.host_path.seconds().value() / time, "timeline");
  if (kernels > 0.0) {
    for (const auto& [cls, row] : s.by_class) {
      const double share = row.time.seconds().value() / kernels;
      Value& sum =
          p.kernel_time.try_emplace(group_of(cls), read_exactly(0.0, "timeline")).first->second;
      sum = read_exactly(sum.best + share, "timeline");
    }
  }
  return e;
}

}  // namespace ridgeline::diagnosis
