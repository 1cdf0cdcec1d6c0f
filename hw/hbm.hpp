#pragma once
// HBM, two ways: bytes take time (bandwidth), and bytes take room (capacity).
//
// Time = ramp + bytes / (peak x sustained x efficiency x filled), where `filled` says how much of
// the machine has loads in flight: a kernel of few workgroups cannot pull the whole bandwidth. Left
// out: channel conflicts, refresh, page policy.

#include <string>
#include <vector>

#include "core/units.hpp"
#include "hw/gpu_spec.hpp"

namespace ridgeline::hw {

/// Share of the bandwidth that `workgroups` can keep in flight. One workgroup per compute unit
/// fills it: on MI300X one wave per SIMD with 8 loads in flight each reaches 4.24 of the 4.3 TB/s
/// that any kernel reaches.
[[nodiscard]] double filled(double workgroups, const GpuSpec& gpu);

/// Time to move `bytes` through HBM; no bytes take no time. `efficiency` and `fill` are in (0, 1].
[[nodiscard]] core::Seconds time_to_move(core::Bytes bytes, const HbmSpec& hbm, double efficiency,
                                         double fill);

/// Whether a tensor handed from one kernel to the next stays in the last-level cache instead of
/// going to HBM.
[[nodiscard]] bool stays_in_cache(core::Bytes tensor, const CacheSpec& cache);

/// What stands in HBM, line by line. Everything that takes memory has a line, so an error can name
/// them all.
class HbmLedger {
 public:
  explicit HbmLedger(core::Bytes capacity) : capacity_(capacity) {}

  void reserve(std::string what, core::Bytes bytes) { lines_.push_back({std::move(what), bytes}); }

  [[nodiscard]] core::Bytes reserved() const;
  /// Negative when more is reserved than there is.
  [[nodiscard]] core::Bytes free() const { return capacity_ - reserved(); }
  [[nodiscard]] core::Bytes capacity() const { return capacity_; }

  struct Line {
    std::string what;
    core::Bytes bytes;
  };
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  /// "weights 16.06 GB + activations 0.63 GB ... of 192.00 GB": one sentence for errors.
  [[nodiscard]] std::string text() const;

 private:
  core::Bytes capacity_;
  std::vector<Line> lines_;
};

}  // namespace ridgeline::hw
