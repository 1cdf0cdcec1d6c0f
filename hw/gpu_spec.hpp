#pragma once
// A GPU as data. Every file in configs/hw is one; the code knows none by name.

#include <optional>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/attention_spec.hpp"
#include "hw/dtype.hpp"
#include "hw/gemm_spec.hpp"
#include "hw/interconnect.hpp"
#include "hw/memory_spec.hpp"
#include "hw/moe_spec.hpp"
#include "hw/pass_spec.hpp"

namespace ridgeline::hw {

/// What the part draws, from few published points: rough.
struct PowerSpec {
  double compute_watts = 0.0;  // in kernels that the matrix units bind
  double memory_watts = 0.0;   // in all others
  double idle_watts = 0.0;     // between kernels
  bool operator==(const PowerSpec&) const = default;
};

/// The link to the host's memory, over which weights and KV cache come and go. Left out: what a
/// copy reaches of it, and other devices that share the host's lanes.
struct HostLinkSpec {
  core::BytesPerSecond rate{};  // per direction, nominal
  bool operator==(const HostLinkSpec&) const = default;
};

struct GpuSpec {
  std::string name;
  std::string architecture;
  std::int64_t compute_units = 0;
  std::int64_t dies = 1;
  std::int64_t wave_size = 64;
  PerDtype<core::FlopPerSecond> peak;  // dense matrix rate; zero where the part has no such unit
  PerDtype<double>
      sustained;  // fraction of peak that clocks under power allow, before tiles and waves
  HbmSpec hbm;
  CacheSpec cache;
  GemmSpec gemm;
  // Mechanisms fitted to measured kernels; what a machine lacks is priced by the plain physics.
  AttentionSpec attention;
  MoeSpec moe;
  std::optional<PassSpec> passes;
  NodeSpec node;  // the GPUs it is linked with, itself included
  std::optional<HostLinkSpec> host_link;
  std::optional<PowerSpec> power;
  bool borrowed = false;  // constants of a sibling: never within what was measured

  bool operator==(const GpuSpec&) const = default;

  /// FLOP per byte at which compute and HBM peaks take equally long.
  [[nodiscard]] double ridge_point(Dtype dtype) const {
    return peak[dtype].value() / hbm.bandwidth.value();
  }
  [[nodiscard]] bool supports(Dtype dtype) const { return peak[dtype].value() > 0.0; }
};

/// Reads a GPU from its map; errors as core/reader.hpp has them.
[[nodiscard]] GpuSpec read_gpu_spec(const core::Reader& in);

}  // namespace ridgeline::hw
