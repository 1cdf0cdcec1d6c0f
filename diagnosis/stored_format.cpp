#include "diagnosis/stored_format.hpp"

#include <utility>

#include "core/lower.hpp"

namespace ridgeline::diagnosis {
namespace {

using enum hw::Dtype;

// vLLM's and SGLang's methods, and what checkpoints are called after. GPTQ and AWQ files in 8 bit
// exist and say so in another word.
constexpr std::pair<std::string_view, StoredFormat> kFormats[]{
    {"fp8", {fp8, fp8}},          {"fbgemm_fp8", {fp8, fp8}},   {"ptpc_fp8", {fp8, fp8}},
    {"modelopt_fp8", {fp8, fp8}}, {"w8a8_fp8", {fp8, fp8}},     {"autofp8", {fp8, fp8}},
    {"w8a8_int8", {int8, int8}},  {"w8a8", {int8, int8}},       {"w8a16", {int8, {}}},
    {"int8", {int8, {}}},         {"8bit", {int8, {}}},         {"experts_int8", {int8, {}}},
    {"q8", {int8, {}}},           {"awq", {int4, {}}},          {"awq_marlin", {int4, {}}},
    {"gptq", {int4, {}}},         {"gptq_marlin", {int4, {}}},  {"marlin", {int4, {}}},
    {"moe_wna16", {int4, {}}},    {"w4a16", {int4, {}}},        {"w4a8", {int4, fp8}},
    {"int4", {int4, {}}},         {"4bit", {int4, {}}},         {"q4", {int4, {}}},
    {"nvfp4", {fp4, fp4}},        {"modelopt_fp4", {fp4, fp4}}, {"fp4", {fp4, fp4}},
    {"mxfp4", {fp4, {}}},         {"petit_nvfp4", {fp4, {}}},
};

constexpr std::pair<std::string_view, hw::Dtype> kDtypes[]{
    {"bfloat16", bf16}, {"bf16", bf16},       {"float16", fp16},     {"half", fp16},
    {"fp16", fp16},     {"f16", fp16},        {"float32", fp32},     {"float", fp32},
    {"fp32", fp32},     {"f32", fp32},        {"fp8", fp8},          {"fp8_e4m3", fp8},
    {"fp8_e5m2", fp8},  {"fp8_inc", fp8},     {"fp8_e4m3fn", fp8},   {"float8_e4m3fn", fp8},
    {"int8", int8},     {"q8_0", int8},       {"q4_0", int4},        {"q4_1", int4},
    {"int4", int4},     {"float8_e5m2", fp8}, {"fp8_e4m3fnuz", fp8}, {"fp4_e2m1", fp4},
};

}  // namespace

std::optional<StoredFormat> stored_format(std::string_view word) {
  std::string plain = core::lower(word);
  for (char& c : plain) {
    if (c == '-') c = '_';
  }
  for (const auto& [name, format] : kFormats) {
    if (name == plain) return format;
  }
  return std::nullopt;
}

std::optional<StoredFormat> stored_format(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (const auto format = stored_format(word)) return format;
  }
  return std::nullopt;
}

std::optional<hw::Dtype> dtype_called(std::string_view word) {
  const std::string lower = core::lower(word);
  std::string_view plain = lower;
  if (plain.starts_with("torch.")) plain.remove_prefix(6);
  for (const auto& [name, dtype] : kDtypes) {
    if (name == plain) return dtype;
  }
  return std::nullopt;
}

}  // namespace ridgeline::diagnosis
