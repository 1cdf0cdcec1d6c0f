#include "diagnosis/complete.hpp"

#include <algorithm>

namespace ridgeline::diagnosis {
namespace {

/// Absent values are filled, present ones stay.
void fill_in(Maybe& value, const Maybe& from, std::string_view where) {
  if (value || !from) return;
  value = from;
  value->from = where;
}

void complete_rates(Evidence& e) {
  Measured& m = e.measured;
  const Serving& s = e.serving;
  fill_in(m.throughput, m.requests_per_second * s.output_tokens,
          "requests a second times tokens of an answer");
  if (m.total_throughput && s.prompt_tokens && s.output_tokens) {
    fill_in(m.throughput,
            *m.total_throughput * *s.output_tokens / (*s.prompt_tokens + *s.output_tokens),
            "the answers' part of all tokens");
  }
  // A batch that starts together and answers equally long: all its time is its steps.
  if (m.latency && s.output_tokens && !m.itl && !m.step_time && !m.throughput_per_sequence) {
    const Value decoding =
        m.ttft ? (*m.latency - *m.ttft).clamped(1e-9, m.latency->high()) : *m.latency;
    fill_in(m.itl, decoding / *s.output_tokens, "a request's time over the tokens of its answer");
  }
}

void complete_counters(Evidence& e) {
  Profile& p = e.profile;
  const auto fraction = [](Maybe part) -> Maybe {
    return part ? Maybe(part->clamped(0.0, std::max(part->best, 1.0))) : std::nullopt;
  };
  fill_in(p.hbm_fraction, fraction(e.measured.hbm_rate / e.machine.hbm_bandwidth),
          "HBM rate over peak");
  if (e.measured.flop_rate) {
    const Maybe peak = peak_of(e.machine, arithmetic_dtype(e.model));
    fill_in(p.useful_flop_fraction, fraction(e.measured.flop_rate / peak), "FLOP rate over peak");
    fill_in(p.flop_fraction, p.useful_flop_fraction, "FLOP rate over peak");
  }
  const Maybe& step = e.measured.step_time;
  if (step) {
    fill_in(p.communication_time, p.communication_fraction * step,
            "collectives' fraction of a step");
  }
}

/// Of the attention kernel, where its row says it.
void complete_occupancy(Evidence& e) {
  for (const KernelRow& row : e.kernels) {
    if (row.group == KernelGroup::attention)
      fill_in(e.profile.occupied, row.occupied, "the attention kernel's row");
  }
}

/// Shares of kernel time by group, where the table covers most of it.
void complete_kernel_shares(Evidence& e) {
  if (e.kernels.empty() || !e.profile.kernel_time.empty()) return;
  Maybe all = e.profile.busy_time;
  double listed = 0.0;
  for (const KernelRow& row : e.kernels) listed += best_or(row.time, 0.0);
  constexpr double kCovers = 0.5;
  const Measured& m = e.measured;
  const Maybe step = either(m.step_time, either(m.itl, Maybe(1.0) / m.throughput_per_sequence));
  if (!all && step && listed > 0.0) {
    if (listed < kCovers * step->best) return;  // single kernels, not a table
    all = Value(std::max(listed, 0.0));
  }
  if (!all && listed > 0.0) all = Value(listed);
  std::map<KernelGroup, Value> shares;
  for (const KernelRow& row : e.kernels) {
    const Maybe share = either(row.share, row.time / all);
    if (!share) continue;
    const auto [it, fresh] = shares.emplace(row.group, *share);
    if (!fresh) it->second = it->second + *share;
  }
  double sum = 0.0;
  for (auto& [group, share] : shares) {
    share = share.clamped(0.0, 1.0);
    share.from = "the table of kernels";
    sum += share.best;
  }
  if (sum > 1.02) return;  // overlapping rows: no shares of one whole
  e.profile.kernel_time = std::move(shares);
}

/// Tokens a second times the time of one is how many sequences run: below one, none does for the
/// rest of the time.
void complete_idleness(Evidence& e) {
  const Measured& m = e.measured;
  const Maybe rate = either(m.throughput, e.serving.request_rate * e.serving.output_tokens);
  if (!e.serving.request_rate || !rate || !m.itl || e.serving.arrivals == Arrivals::saturated)
    return;
  const Value running = *rate * *m.itl;
  if (running.best < 0.5)
    fill_in(e.profile.idle_fraction, (Value(1.0) - running).clamped(0.0, 1.0),
            "one less the sequences that run on average");
}

/// A change that is in place already is how the server computes.
void complete_dtypes(Evidence& e) {
  for (const Trial& trial : e.trials) {
    if (trial.with && trial.change == "fp8_w8a8" && !e.model.activation_dtype)
      e.model.activation_dtype = hw::Dtype::fp8;
  }
}

}  // namespace

hw::Dtype arithmetic_dtype(const Model& model) {
  if (model.activation_dtype) return *model.activation_dtype;
  // Weights in few bits are multiplied in 16 unless somebody says that activations are quantized
  // too.
  if (!model.weight_dtype || hw::bytes_of(*model.weight_dtype).value() < 2.0)
    return hw::Dtype::bf16;
  return *model.weight_dtype;
}

double matrix_sustained(const Evidence& e, hw::Dtype dtype) {
  const auto it = e.machine.peak_sustained.find(dtype);
  return it != e.machine.peak_sustained.end() ? it->second : 1.0;
}

Maybe peak_of(const Machine& machine, hw::Dtype dtype) {
  const auto at = [&](hw::Dtype d) -> Maybe {
    const auto it = machine.peak.find(d);
    return it != machine.peak.end() ? Maybe(it->second) : std::nullopt;
  };
  if (const Maybe exact = at(dtype)) return exact;
  if (dtype == hw::Dtype::fp16) return at(hw::Dtype::bf16);
  if (dtype == hw::Dtype::bf16) return at(hw::Dtype::fp16);
  return std::nullopt;
}

Evidence completed(Evidence e) {
  complete_dtypes(e);
  complete_rates(e);
  complete_idleness(e);
  complete_counters(e);
  complete_occupancy(e);
  complete_kernel_shares(e);
  for (Evidence& point : e.sweep) point = completed(std::move(point));
  return e;
}

}  // namespace ridgeline::diagnosis
