#include "bindings/spans.hpp"

#include <cstddef>

#include "bindings/simulating.hpp"

namespace ridgeline::bindings {
namespace {

constexpr const char* kInteger = "<i8";

}  // namespace

class Collector final : public timeline::SpanVisitor {
 public:
  explicit Collector(Spans& into) : into_(into) {}

  void on_step(const timeline::StepSpan& s) override {
    constexpr std::size_t kStepsBetweenSignals = 256;
    if (into_.steps_.size() % kStepsBetweenSignals == 0) hear_signals();
    into_.steps_.push_back({s.index, s.start.ns, s.duration.count, s.decode_sequences,
                            s.decode_context, s.prefill_sequences, s.prefill_tokens,
                            s.prefill_context});
  }
  void on_kernel(const timeline::KernelSpan& k) override {
    into_.kernels_.push_back({k.start.ns, k.duration.count, k.step, k.correlation, k.grid, k.gemm.m,
                              k.gemm.n, k.gemm.k, k.issued.value(), k.useful.value(),
                              k.hbm_read.value(), k.hbm_written.value(), into_.names_.of(k.name),
                              into_.names_.of(k.role), k.stream, k.block,
                              static_cast<std::uint8_t>(k.cls), k.from_graph});
  }
  void on_runtime(const timeline::RuntimeSpan& c) override {
    into_.calls_.push_back(
        {c.start.ns, c.duration.count, c.step, c.correlation, into_.names_.of(c.name)});
  }

 private:
  Spans& into_;
};

std::shared_ptr<Spans> Spans::of(const timeline::SpanSource& source, timeline::Window window) {
  auto spans = std::make_shared<Spans>();
  Collector collector(*spans);
  source.visit(window, collector);
  return spans;
}

Records Spans::kernels() const {
  using R = KernelRow;
  return {shared_from_this(),
          kernels_,
          {{"start_ns", kInteger, offsetof(R, start_ns)},
           {"duration_ns", kInteger, offsetof(R, duration_ns)},
           {"name", "<u4", offsetof(R, name)},
           {"kernel_class", "|u1", offsetof(R, kernel_class)},
           {"role", "<u4", offsetof(R, role)},
           {"step", kInteger, offsetof(R, step)},
           {"stream", "<i4", offsetof(R, stream)},
           {"correlation", kInteger, offsetof(R, correlation)},
           {"from_graph", "|b1", offsetof(R, from_graph)},
           {"workgroups", kInteger, offsetof(R, workgroups)},
           {"threads", "<i4", offsetof(R, threads)},
           {"m", kInteger, offsetof(R, m)},
           {"n", kInteger, offsetof(R, n)},
           {"k", kInteger, offsetof(R, k)},
           {"issued_flop", "<f8", offsetof(R, issued_flop)},
           {"useful_flop", "<f8", offsetof(R, useful_flop)},
           {"hbm_read_bytes", "<f8", offsetof(R, hbm_read_bytes)},
           {"hbm_written_bytes", "<f8", offsetof(R, hbm_written_bytes)}}};
}

Records Spans::calls() const {
  using R = CallRow;
  return {shared_from_this(),
          calls_,
          {{"start_ns", kInteger, offsetof(R, start_ns)},
           {"duration_ns", kInteger, offsetof(R, duration_ns)},
           {"name", "<u4", offsetof(R, name)},
           {"step", kInteger, offsetof(R, step)},
           {"correlation", kInteger, offsetof(R, correlation)}}};
}

Records Spans::steps() const {
  using R = StepRow;
  return {shared_from_this(),
          steps_,
          {{"index", kInteger, offsetof(R, index)},
           {"start_ns", kInteger, offsetof(R, start_ns)},
           {"duration_ns", kInteger, offsetof(R, duration_ns)},
           {"decode_sequences", kInteger, offsetof(R, decode_sequences)},
           {"decode_context", kInteger, offsetof(R, decode_context)},
           {"prefill_sequences", kInteger, offsetof(R, prefill_sequences)},
           {"prefill_tokens", kInteger, offsetof(R, prefill_tokens)},
           {"prefill_context", kInteger, offsetof(R, prefill_context)}}};
}

std::vector<std::string> Spans::names() const {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < names_.size(); ++i) out.push_back(names_.text(i));
  return out;
}

}  // namespace ridgeline::bindings
