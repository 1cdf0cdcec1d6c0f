#include "hw/hbm.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ridgeline::hw {

double filled(double workgroups, const GpuSpec& gpu) {
  if (workgroups <= 0.0) return 1.0;
  return std::min(1.0, workgroups / static_cast<double>(gpu.compute_units));
}

core::Seconds time_to_move(core::Bytes bytes, const HbmSpec& hbm, double efficiency, double fill) {
  if (bytes.value() <= 0.0) return core::Seconds{0.0};
  return hbm.ramp + bytes / (hbm.bandwidth * (hbm.sustained * efficiency * fill));
}

bool stays_in_cache(core::Bytes tensor, const CacheSpec& cache) {
  return tensor <= cache.capacity * cache.resident;
}

core::Bytes HbmLedger::reserved() const {
  core::Bytes sum{};
  for (const Line& line : lines_) sum += line.bytes;
  return sum;
}

std::string HbmLedger::text() const {
  std::string out;
  for (const Line& line : lines_) {
    out += fmt::format("{}{} {:.2f} GB", out.empty() ? "" : " + ", line.what,
                       line.bytes.value() * 1e-9);
  }
  if (lines_.empty()) out = "nothing";
  return out +
         fmt::format(" = {:.2f} of {:.2f} GB", reserved().value() * 1e-9, capacity_.value() * 1e-9);
}

}  // namespace ridgeline::hw
