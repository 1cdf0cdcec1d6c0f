#include "fidelity/operation.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/lower.hpp"

namespace ridgeline::fidelity {
namespace {

constexpr double kNineOfTen = 1.645;  // standard deviations either side, for a normal distribution

}  // namespace

double Prediction::low() const { return std::max(floor, seconds * std::exp(-kNineOfTen * spread)); }
double Prediction::high() const { return seconds * std::exp(kNineOfTen * spread); }

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table{kGemm,   kAttention, kAllReduce,     kMoe,
                                            kStream, kLayer,     kStepAttention, kStepExperts};
  return table;
}

const Operation& operation_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Operation& operation : operations()) {
    if (operation.name == name) return operation;
    names.emplace_back(operation.name);
  }
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  throw core::ConfigError("predict: expected one of " + all + ", got '" + std::string(name) + "'" +
                          core::suggestion(std::string(name), names));
}

const hw::GpuSpec& machine_of(const Row& row, Machines& machines) {
  // What the row says itself goes before what the table's folder is called.
  std::string_view column = "hw";
  for (const char* own : {"system", "hw", "gpu"}) {
    if (row.says(own)) column = own;
  }
  const std::string text(row.text(column));
  if (const hw::GpuSpec* gpu = machines.find(text)) return *gpu;
  std::string names;
  for (const std::string& name : machines.names()) names += (names.empty() ? "" : ", ") + name;
  row.fail(column, "a machine, one of " + names + " within the text, or --hw");
}

std::string_view flavour_of(std::string_view text, hw::Dtype dtype, const hw::GemmSpec& gemm) {
  const std::string words = core::lower(text);
  const std::string_view prefix = hw::name_of(dtype);
  std::string_view best;
  for (const hw::GemmFamily& family : gemm.families) {
    std::string_view flavour = family.name;
    if (!flavour.starts_with(prefix) || flavour.size() == prefix.size()) continue;
    flavour.remove_prefix(prefix.size() + 1);
    bool all = true;
    for (std::string_view rest = flavour; all && !rest.empty();) {
      const std::size_t end = std::min(rest.find('_'), rest.size());
      all = words.find(rest.substr(0, end)) != std::string::npos;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (all && flavour.size() > best.size()) best = flavour;
  }
  return best;
}

NumberFormat number_format(std::string_view text) {
  const std::string words = core::lower(text);
  NumberFormat format;
  struct Word {
    std::string_view part;
    hw::Dtype dtype;
  };
  // "a8w8" alone says 8 bits, not which: in the tables that say no more it is fp8.
  static constexpr Word kWords[] = {
      {"bf16", hw::Dtype::bf16},    {"bfloat16", hw::Dtype::bf16}, {"fp16", hw::Dtype::fp16},
      {"float16", hw::Dtype::fp16}, {"half", hw::Dtype::fp16},     {"int8", hw::Dtype::int8},
      {"fp8", hw::Dtype::fp8},      {"float8", hw::Dtype::fp8},    {"e4m3", hw::Dtype::fp8},
      {"a8w8", hw::Dtype::fp8},     {"tf32", hw::Dtype::tf32},     {"fp32", hw::Dtype::fp32},
      {"float32", hw::Dtype::fp32}, {"fp64", hw::Dtype::fp64},     {"fp4", hw::Dtype::fp4},
      {"int4", hw::Dtype::int4},
  };
  // The word that stands first: "fp8 ... bf16 out" is fp8.
  std::size_t first = std::string::npos;
  for (const Word& word : kWords) {
    const std::size_t at = words.find(word.part);
    if (at < first) {
      first = at;
      format.dtype = word.dtype;
    }
  }
  format.sure = first != std::string::npos;
  return format;
}

}  // namespace ridgeline::fidelity
