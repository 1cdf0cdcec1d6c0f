#include "hw/pass_cost.hpp"

#include <algorithm>

namespace ridgeline::hw {
namespace {

core::Seconds fixed_time(const core::Reader& in) {
  const auto fixed = in.get<core::Seconds>("fixed");
  in.require(fixed.value() >= 0.0 && fixed <= core::Seconds{1e-3}, "fixed",
             "a time from 0 to 1 ms");
  return fixed;
}

PassConstants read_constants(const core::Reader& in) {
  PassConstants constants;
  if (in.has("hbm")) constants.hbm = in.fraction("hbm", 0.001, 1.0);
  if (in.has("cache")) constants.cache = in.fraction("cache", 0.001, 1.0);
  if (in.has("workgroup_bandwidth")) {
    constants.workgroup_bandwidth = in.get<core::BytesPerSecond>("workgroup_bandwidth");
    in.require(constants.workgroup_bandwidth >= core::BytesPerSecond{1e6}, "workgroup_bandwidth",
               "a rate of at least 1 MB/s");
  }
  if (in.has("fixed")) constants.fixed = fixed_time(in);
  return constants;
}

}  // namespace

PassSpec read_pass_spec(const core::Reader& in) {
  PassSpec spec;
  spec.fixed = fixed_time(in);
  spec.workgroup_start = in.get<core::Seconds>("workgroup_start", core::Seconds{});
  in.require(spec.workgroup_start.value() >= 0.0 && spec.workgroup_start <= core::Seconds{1e-6},
             "workgroup_start", "a time from 0 to 1 us");
  spec.any = in.has("any") ? read_constants(in.child("any")) : PassConstants{};
  const auto kind = [&](std::string_view key, std::optional<PassConstants>& constants) {
    if (in.has(key)) constants = read_constants(in.child(key));
  };
  kind("norm", spec.norm);
  kind("elementwise", spec.elementwise);
  kind("rope", spec.rope);
  kind("cache_write", spec.cache_write);
  kind("cast", spec.cast);
  if (in.has("spread")) spec.spread = in.fraction("spread", 0.0, 3.0);
  if (in.has("source")) static_cast<void>(in.raw("source"));
  return spec;
}

PassTime pass_time(core::Bytes activations, core::Bytes streamed, double rows, const PassSpec& spec,
                   const PassConstants& constants, const HbmSpec& hbm, const CacheSpec& cache) {
  const core::Bytes hot = std::min(activations, cache.capacity * cache.resident);
  const core::Bytes cold = activations - hot + streamed;
  core::BytesPerSecond from_cache = cache.bandwidth * constants.cache;
  core::BytesPerSecond from_hbm = hbm.bandwidth * constants.hbm;
  if (constants.workgroup_bandwidth.value() > 0.0 && rows > 0.0) {
    const core::BytesPerSecond pulled = constants.workgroup_bandwidth * rows;
    from_cache = std::min(from_cache, pulled);
    from_hbm = std::min(from_hbm, pulled);
  }
  from_cache = std::max(from_cache, from_hbm);
  return {constants.fixed.value_or(spec.fixed),
          std::max(spec.workgroup_start * rows, hot / from_cache + cold / from_hbm),
          activations.value() > 0.0 ? hot / activations : 1.0};
}

}  // namespace ridgeline::hw
