#pragma once
// Which plain class a kernel belongs to, by its name, and whose kernel it is. The words are those
// of real traces, on ROCm and CUDA, demangled or not. What a name cannot tell stays untold: a
// product inside materialised attention is named like any other, so it reads as gemm, and a
// reduction of an eager norm reads as elementwise. A convolution reads as gemm: it is computed as
// one.

#include <string_view>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

struct KernelFacts {
  KernelClass cls = KernelClass::other;
  std::string_view
      family;  // "Tensile", "ck_tile", "vllm", "at::native"…; empty unknown. Static text

  bool operator==(const KernelFacts&) const = default;
};

/// Looks through the tables of classify.cpp: some microseconds, so once a name, not once a kernel.
[[nodiscard]] KernelFacts classify(std::string_view kernel_name);

/// The facts of every name of a recording that a device event bears; copies and sets are copy
/// whatever they are called. A table by (name, is it a kernel), filled once.
class EventClasses {
 public:
  explicit EventClasses(const Recording& recording);

  [[nodiscard]] const KernelFacts& operator[](const DeviceEvent& event) const {
    return event.kind == DeviceEvent::Kind::kernel ? facts_[event.name] : copy_;
  }

 private:
  std::vector<KernelFacts> facts_;  // by name; default where no kernel bears it
  KernelFacts copy_{KernelClass::copy, "runtime"};
};

}  // namespace ridgeline::timeline
