#pragma once
// Timelines that nobody recorded: each is the summary that a profiler would give of one of the five
// cases, with its kernels by class. Built from plain numbers, so that a test can say what it
// expects and why.

#include "diagnosis/observe.hpp"

namespace ridgeline::tests {

inline core::Nanoseconds ms(double x) { return core::round_to_ns(core::Seconds{x * 1e-3}); }

inline hw::GpuSpec reference_gpu() {
  hw::GpuSpec gpu;
  gpu.name = "reference";
  gpu.compute_units = 304;
  gpu.peak[hw::Dtype::fp16] = core::FlopPerSecond{1307.4e12};
  gpu.peak[hw::Dtype::bf16] = core::FlopPerSecond{1307.4e12};
  gpu.peak[hw::Dtype::fp8] = core::FlopPerSecond{2614.9e12};
  gpu.hbm.bandwidth = core::BytesPerSecond{5.3e12};
  gpu.hbm.capacity = core::Bytes{192e9};
  return gpu;
}

inline diagnosis::Value fact(double x) { return diagnosis::read_exactly(x, "test"); }

inline diagnosis::Model dense(double parameters, double layers, double hidden, double heads,
                              double kv_heads) {
  diagnosis::Model m;
  m.parameters = fact(parameters);
  m.weight_bytes = fact(2.0 * parameters);
  m.weight_dtype = hw::Dtype::fp16;
  m.layers = fact(layers);
  m.hidden = fact(hidden);
  m.heads = fact(heads);
  m.kv_heads = fact(kv_heads);
  return m;
}

/// Adds kernels of a class to a summary of `steps` steps; time per step in ms, FLOP and bytes per
/// step.
inline void add_kernels(timeline::Summary& s, timeline::KernelClass cls, std::int64_t count,
                        double time_ms, double issued = 0.0, double useful = 0.0,
                        double hbm = 0.0) {
  timeline::KernelRow row;
  row.count = count * s.steps;
  row.time = ms(time_ms) * s.steps;
  row.issued = core::Flop{issued * static_cast<double>(s.steps)};
  row.useful = core::Flop{useful * static_cast<double>(s.steps)};
  row.hbm = core::Bytes{hbm * static_cast<double>(s.steps)};
  s.by_class[cls] += row;
  s.total += row;
  s.kernels_time += row.time;
  s.busy += row.time;
  s.kernel_lengths[row.time.count / row.count] += row.count;
}

/// Gaps and host time per step in ms; closes the books.
inline void close(timeline::Summary& s, double gaps_ms, double host_ms) {
  s.gaps = ms(gaps_ms) * s.steps;
  s.host = ms(host_ms) * s.steps;
  s.time = s.busy + s.gaps + s.host;
  if (s.total.count > s.steps)
    s.gap_lengths[s.gaps.count / (s.total.count - s.steps)] += s.total.count - s.steps;
}

/// 6.25 ms a token: weights at 83 % of peak bandwidth, small gaps of a captured graph, a little
/// host.
inline diagnosis::Observation chatbot() {
  using timeline::KernelClass;
  diagnosis::Observation o;
  o.gpu = reference_gpu();
  o.model = dense(13e9, 40, 5120, 40, 40);
  o.serving.arrivals = diagnosis::Arrivals::one_at_a_time;
  o.serving.prompt_tokens = fact(50);
  o.serving.output_tokens = fact(500);
  o.measured.throughput = fact(160);
  o.summary.steps = 500;
  o.summary.decode_sequences = 500;
  o.summary.decode_context = 500 * 300;
  o.summary.gemm_m = {{1, 500 * 281}};
  add_kernels(o.summary, KernelClass::gemm, 281, 5.30, 400e9, 26e9, 26e9);
  add_kernels(o.summary, KernelClass::attention, 40, 0.20, 0.2e9, 0.2e9, 0.25e9);
  add_kernels(o.summary, KernelClass::norm, 81, 0.20, 0, 0, 0.01e9);
  add_kernels(o.summary, KernelClass::elementwise, 160, 0.20, 0, 0, 0.02e9);
  close(o.summary, 0.25, 0.10);
  return o;
}

inline diagnosis::Observation training() {
  using timeline::KernelClass;
  diagnosis::Observation o;
  o.gpu = reference_gpu();
  o.serving.microbatch = fact(8);
  o.serving.sequence_tokens = fact(4096);
  o.summary.steps = 2;
  o.summary.training_steps = 2;
  o.proposals = {"hand_fusion"};
  // One second a step; 0.61 x 1307.4 TFLOP in the matrix kernels.
  add_kernels(o.summary, KernelClass::gemm, 900, 700, 720e12, 720e12, 1e12);
  add_kernels(o.summary, KernelClass::attention, 64, 70, 77.5e12, 77.5e12, 0.1e12);
  add_kernels(o.summary, KernelClass::norm, 130, 80, 0, 0, 0.3e12);
  add_kernels(o.summary, KernelClass::elementwise, 600, 90, 0, 0, 0.35e12);
  add_kernels(o.summary, KernelClass::cast, 300, 50, 0, 0, 0.2e12);
  close(o.summary, 5, 5);
  return o;
}

inline diagnosis::Observation summarizer() {
  using timeline::KernelClass;
  diagnosis::Observation o;
  o.gpu = reference_gpu();
  o.model = dense(8e9, 32, 4096, 32, 8);
  o.serving.prompt_tokens = fact(25000);
  o.serving.output_tokens = fact(100);
  o.measured.ttft = fact(2.6);
  o.measured.itl = fact(0.004);
  o.summary.steps = 3;
  o.summary.prefill_sequences = 3;
  o.summary.prefill_tokens = 75000;
  o.summary.prefill_qk = 3 * 25000.0 * 25000.0;
  o.summary.transient = core::Bytes{40e9};
  add_kernels(o.summary, KernelClass::gemm, 225, 1050, 375e12, 372e12, 0.1e12);
  add_kernels(o.summary, KernelClass::attention_scores, 64, 700, 328e12, 164e12, 2.56e12);
  add_kernels(o.summary, KernelClass::softmax, 32, 730, 0, 0, 2.56e12);
  add_kernels(o.summary, KernelClass::norm, 65, 60, 0, 0, 0.1e12);
  add_kernels(o.summary, KernelClass::elementwise, 96, 50, 0, 0, 0.1e12);
  close(o.summary, 4, 6);
  return o;
}

/// 42 ms a step: 256 sequences and 320 prompt tokens.
inline diagnosis::Observation api() {
  using timeline::KernelClass;
  diagnosis::Observation o;
  o.gpu = reference_gpu();
  o.model = dense(34e9, 48, 8192, 64, 8);
  o.serving.arrivals = diagnosis::Arrivals::saturated;
  o.measured.throughput = fact(6100);
  o.proposals = {"weight_quantization_4bit"};
  o.summary.steps = 100;
  o.summary.decode_sequences = 25600;
  o.summary.decode_context = 25600 * 150;
  o.summary.prefill_sequences = 400;
  o.summary.prefill_tokens = 32000;
  o.summary.gemm_m = {{576, 100 * 337}};
  add_kernels(o.summary, KernelClass::gemm, 337, 37.0, 39.2e12, 38.9e12, 68e9);
  add_kernels(o.summary, KernelClass::attention, 96, 1.5, 0.1e12, 0.1e12, 7.5e9);
  add_kernels(o.summary, KernelClass::norm, 97, 0.7, 0, 0, 0.5e9);
  add_kernels(o.summary, KernelClass::elementwise, 144, 1.0, 0, 0, 1e9);
  close(o.summary, 0.8, 1.0);
  return o;
}

/// 27.8 ms a step: 450 eager kernels, gaps of 11 us between them, 14.6 ms of host.
inline diagnosis::Observation gaps() {
  using timeline::KernelClass;
  diagnosis::Observation o;
  o.gpu = reference_gpu();
  o.model = dense(8e9, 32, 4096, 32, 8);
  o.measured.throughput_per_sequence = fact(36);
  o.summary.steps = 50;
  o.summary.decode_sequences = 1600;
  o.summary.decode_context = 1600 * 1024;
  o.summary.gemm_m = {{32, 50 * 225}};
  add_kernels(o.summary, KernelClass::gemm, 225, 5.0, 1.03e12, 0.51e12, 16e9);
  add_kernels(o.summary, KernelClass::attention, 32, 0.9, 0.02e12, 0.02e12, 4.3e9);
  add_kernels(o.summary, KernelClass::norm, 65, 0.6);
  add_kernels(o.summary, KernelClass::elementwise, 128, 1.2);
  close(o.summary, 5.3, 14.8);
  return o;
}

}  // namespace ridgeline::tests
