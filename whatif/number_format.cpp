#include "whatif/number_format.hpp"

#include "core/error.hpp"

namespace ridgeline::whatif {

const std::vector<NumberFormat>& number_formats() {
  // A new one is one line here.
  static const std::vector<NumberFormat> table{
      {"none", "none", "", false, "", "weights as the activations"},
      {"bf16", "none", "", false, "", "the same"},
      {"fp16", "none", "", false, "", "the same"},
      {"int8", "{method: gptq, bits: 8}", "int8", false, "weight_quantization_8bit",
       "weights in 8 bit (GPTQ), multiplied in 16"},
      {"int4", "awq", "int4", false, "weight_quantization_4bit",
       "weights in 4 bit (AWQ), multiplied in 16"},
      {"mxfp4", "mxfp4", "fp4", false, "weight_quantization_4bit",
       "weights in MXFP4, multiplied in 16"},
      {"fp8", "fp8", "fp8", true, "fp8_w8a8", "weights and activations in fp8"},
      {"w8a8", "int8", "int8", true, "", "weights and activations in int8"},
  };
  return table;
}

const NumberFormat& number_format(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const NumberFormat& format : number_formats()) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw core::ConfigError(std::string(where) + ": no number format is named '" + std::string(name) +
                          "'" + core::suggestion(name, names));
}

std::vector<sim::Override> in_format(const NumberFormat& format, const sim::Scenario& scenario) {
  const core::Node* model = scenario.document.find("model");
  const auto says = [&](std::string_view key) {
    const core::Node* value = model != nullptr ? model->find(key) : nullptr;
    return value != nullptr && value->kind != core::Node::Kind::null;
  };
  if (!says("weights") && !says("math"))
    return {{"model.quantization", std::string(format.method)}};
  const std::string activations(hw::name_of(scenario.model.activations));
  const std::string weights = format.weights.empty() ? activations : std::string(format.weights);
  return {{"model.weights", weights},
          {"model.math", format.multiplies_stored ? weights : activations}};
}

}  // namespace ridgeline::whatif
