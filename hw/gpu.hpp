#pragma once
// The whole device: prices a step's kernels, runs them through the launch queue, and says where the
// time went.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hw/kernel_cost.hpp"
#include "hw/kernel_program.hpp"
#include "hw/launch_queue.hpp"
#include "hw/ledger.hpp"

namespace ridgeline::hw {

/// What one step did, summed over its kernels.
struct Execution {
  Ledger ledger;  // without Cause::host, which is the server's to say
  core::Nanoseconds
      device_end{};               // of the last kernel, from when the host began to issue the first
  core::Nanoseconds host_free{};  // when the host had issued everything
  std::int64_t kernels = 0;
  core::Flop issued{};
  core::Flop useful{};
  core::Bytes hbm{};
  core::Bytes transient{};           // largest of any kernel
  core::Nanoseconds extrapolated{};  // in kernels outside the sizes that were measured
};

class Gpu {
 public:
  Gpu(const GpuSpec& spec, const EfficiencySpec& efficiency, const LaunchSpec& launch);

  [[nodiscard]] const GpuSpec& spec() const { return spec_; }
  [[nodiscard]] const EfficiencySpec& efficiency() const { return efficiency_; }
  [[nodiscard]] const LaunchSpec& launch() const { return launch_; }

  /// Cost of one kernel, remembered by shape for matrix products.
  [[nodiscard]] const KernelCost& price(const KernelWork& work, LaunchMode mode);

  /// Runs a program. `visit(work, cost, timing)` is called for every kernel in order; pass nothing
  /// when only the sums matter.
  [[nodiscard]] Execution execute(const KernelProgram& program, LaunchMode mode) {
    return execute(program, mode, [](const KernelWork&, const KernelCost&, const KernelTiming&) {});
  }
  template <class Visit>
  [[nodiscard]] Execution execute(const KernelProgram& program, LaunchMode mode, Visit&& visit);

 private:
  struct ProductKey {
    GemmShape gemm;
    std::int64_t bytes = 0;  // useful FLOP, streamed and activation bytes, hashed together
    std::uint32_t rest = 0;  // kind, dtype, mode
    bool operator==(const ProductKey&) const = default;
  };
  struct ProductHash {
    std::size_t operator()(const ProductKey& key) const;
  };

  void price_all(const KernelProgram& program, LaunchMode mode);

  GpuSpec spec_;
  EfficiencySpec efficiency_;
  LaunchSpec launch_;
  LaunchQueue queue_;
  std::unordered_map<ProductKey, KernelCost, ProductHash> products_;
  KernelCost last_;                // of a kernel that is not remembered
  std::vector<KernelCost> costs_;  // of the program at hand, by kernel index
};

template <class Visit>
Execution Gpu::execute(const KernelProgram& program, LaunchMode mode, Visit&& visit) {
  price_all(program, mode);
  Execution out;
  out.kernels = program.launches();
  queue_.begin(mode, out.kernels);
  core::Nanoseconds dispatch{};
  core::Nanoseconds launch{};
  for (const KernelProgram::Segment& segment : program.segments()) {
    for (std::int64_t r = 0; r < segment.repeat; ++r) {
      for (std::size_t i = segment.first; i < segment.first + segment.count; ++i) {
        const KernelTiming timing = queue_.push(costs_[i].duration);
        dispatch += timing.dispatch_gap;
        launch += timing.launch_gap;
        out.device_end = timing.end;
        out.host_free = timing.issue_end;
        visit(program.kernels()[i], costs_[i], timing);
      }
    }
    const double repeat = static_cast<double>(segment.repeat);
    for (std::size_t i = segment.first; i < segment.first + segment.count; ++i) {
      const KernelCost& cost = costs_[i];
      const Cause cause = cost.binds == Binding::compute  ? Cause::compute
                          : cost.binds == Binding::memory ? Cause::memory
                          : cost.binds == Binding::link   ? Cause::communication
                                                          : Cause::floor;
      out.ledger[cause] += cost.duration * segment.repeat;
      out.issued += cost.issued * repeat;
      out.useful += cost.useful * repeat;
      out.hbm += cost.hbm() * repeat;
      if (cost.extrapolated) out.extrapolated += cost.duration * segment.repeat;
      if (program.kernels()[i].transient > out.transient)
        out.transient = program.kernels()[i].transient;
    }
  }
  out.ledger[Cause::dispatch] = dispatch;
  out.ledger[Cause::launch] = launch;
  return out;
}

}  // namespace ridgeline::hw
