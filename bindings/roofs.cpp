#include "bindings/roofs.hpp"

#include <nlohmann/json.hpp>

namespace ridgeline::bindings {

std::string roofs_json(const hw::GpuSpec& gpu) {
  const auto roof = [](double peak, double sustained) {
    return nlohmann::ordered_json::array({peak, peak * sustained});
  };
  nlohmann::ordered_json out;
  out["gpu"] = gpu.name;
  out["hbm_bytes_per_second"] = roof(gpu.hbm.bandwidth.value(), gpu.hbm.sustained);
  out["flop_per_second"] = nlohmann::ordered_json::object();
  for (const auto& [name, dtype] : hw::dtype_names())
    if (gpu.supports(dtype))
      out["flop_per_second"][std::string(name)] =
          roof(gpu.peak[dtype].value(), gpu.sustained[dtype]);
  return out.dump();
}

}  // namespace ridgeline::bindings
