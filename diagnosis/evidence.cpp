#include "diagnosis/evidence.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "diagnosis/values_possible.hpp"

namespace ridgeline::diagnosis {

Machine machine_from(const hw::GpuSpec& gpu) {
  Machine machine;
  machine.name = gpu.name;
  machine.datasheet = true;
  machine.hbm_bandwidth = read_exactly(gpu.hbm.bandwidth.value(), "machine");
  machine.hbm_capacity = read_exactly(gpu.hbm.capacity.value(), "machine");
  for (const auto& dtype : hw::dtype_names()) {
    if (!gpu.supports(dtype.value)) continue;
    machine.peak.emplace(dtype.value, read_exactly(gpu.peak[dtype.value].value(), "machine"));
    if (gpu.sustained[dtype.value] > 0.0)
      machine.peak_sustained.emplace(dtype.value, gpu.sustained[dtype.value]);
  }
  machine.hbm_sustained = gpu.hbm.sustained;
  if (gpu.compute_units > 0)
    machine.compute_units = read_exactly(static_cast<double>(gpu.compute_units), "machine");
  if (gpu.host_link) machine.host_bandwidth = read_exactly(gpu.host_link->rate.value(), "machine");
  machine.link_rate = gpu.node.rate.value();
  machine.linked_in_pairs = gpu.node.topology == hw::Topology::full_mesh;
  return machine;
}

void require_sensible(const Evidence& evidence) {
  const auto check = [](std::string_view section, std::string_view key, core::Dimension dimension,
                        const Value& value) {
    const bool zero = may_be_zero(key, dimension);
    const bool sensible = std::isfinite(value.low()) && std::isfinite(value.high()) &&
                          std::isfinite(value.best) && value.low() >= 0.0 &&
                          value.low() <= value.best && value.best <= value.high() &&
                          (zero || value.best > 0.0);
    if (!sensible) {
      throw core::ConfigError(fmt::format("{}.{}: expected a finite value {}, got {:g} to {:g}",
                                          section, key, zero ? "of zero or more" : "above zero",
                                          value.low(), value.high()));
    }
  };
  Evidence copy = evidence;  // the table of fields hands out references that may be written through
  for (const Field& field : evidence_fields()) {
    if (const Maybe& value = field.at(copy))
      check(field.section, field.key, field.dimension, *value);
  }
  for (const auto& [group, share] : evidence.profile.kernel_time)
    check("profile.kernel_time", name_of(group), core::Dimension::fraction, share);
  for (const auto& [dtype, rate] : evidence.machine.peak)
    check("machine.peak", hw::name_of(dtype), core::Dimension::flop_per_second, rate);
}

}  // namespace ridgeline::diagnosis
