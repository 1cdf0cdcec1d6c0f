#include "timeline/gemm_shapes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace ridgeline::timeline {
namespace {

using Shape = std::vector<std::int64_t>;

/// Where an operator has its two factors, and whether the second is [n, k] as a linear layer keeps
/// its weight.
struct Form {
  std::string_view name;
  std::size_t first;
  std::size_t second;
  bool weight_first_is_n;
};

constexpr Form kForms[] = {
    {"aten::mm", 0, 1, false},
    {"aten::addmm", 1, 2, false},
    {"aten::bmm", 0, 1, false},
    {"aten::baddbmm", 1, 2, false},
    {"aten::_scaled_mm", 0, 1, false},
    {"aten::linear", 0, 1, true},
    {"aten::matmul", 0, 1, false},
    {"aiter::gemm_a16w16", 0, 1, true},
    {"vllm::rocm_unquantized_gemm", 0, 1, true},
    {"aten::_int_mm", 0, 1, false},
    {"aten::_addmm_activation", 1, 2, false},
};

std::int64_t bytes_of(std::string_view dtype) {
  const auto holds = [&](std::string_view word) {
    return dtype.find(word) != std::string_view::npos;
  };
  if (holds("Float8") || holds("char") || holds("int8")) return 1;
  if (holds("Half") || holds("BFloat16") || holds("short")) return 2;
  if (holds("double") || holds("long")) return 8;
  if (holds("float") || holds("int")) return 4;
  return 2;
}

std::optional<GemmShape> shape_of(const Form& form, const Operator& op) {
  if (op.shapes.size() <= std::max(form.first, form.second)) return std::nullopt;
  const Shape& a = op.shapes[form.first];
  const Shape& b = op.shapes[form.second];
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  GemmShape out;
  out.facts.k = a.back();
  const std::int64_t b_rows = b[b.size() - 2];
  out.facts.n = form.weight_first_is_n ? b_rows : b.back();
  if ((form.weight_first_is_n ? b.back() : b_rows) != out.facts.k) return std::nullopt;
  out.facts.m = a[a.size() - 2];
  std::int64_t outer = 1;
  for (std::size_t i = 0; i + 2 < a.size(); ++i) outer *= a[i];
  // A weight without a batch of its own multiplies all rows at once.
  (b.size() > 2 ? out.batch : out.facts.m) *= outer;
  if (out.facts.m <= 0 || out.facts.n <= 0 || out.facts.k <= 0 || out.batch <= 0)
    return std::nullopt;
  return out;
}

}  // namespace

core::Flop GemmShape::flop() const {
  return core::Flop{2.0 * static_cast<double>(batch) * static_cast<double>(facts.m) *
                    static_cast<double>(facts.n) * static_cast<double>(facts.k)};
}

core::Bytes GemmShape::bytes() const {
  const auto m = static_cast<double>(facts.m);
  const auto n = static_cast<double>(facts.n);
  const auto k = static_cast<double>(facts.k);
  return core::Bytes{static_cast<double>(batch) * (m * k + k * n + m * n) *
                     static_cast<double>(element_bytes)};
}

GemmShapes::GemmShapes(const Recording& recording) {
  std::vector<const Form*> forms(recording.names.size(), nullptr);
  std::vector<bool> looked(recording.names.size(), false);
  for (const Operator& op : recording.operators) {
    if (op.external_id == 0 || op.shapes.empty()) continue;
    if (!looked[op.name]) {
      looked[op.name] = true;
      for (const Form& f : kForms) {
        if (recording.name(op.name) == f.name) forms[op.name] = &f;
      }
    }
    if (forms[op.name] == nullptr) continue;
    if (auto shape = shape_of(*forms[op.name], op)) {
      shape->element_bytes = bytes_of(recording.name(op.dtype));
      // Of addmm the first input is the bias, but it has the format of the rest.
      by_id_.push_back({op.external_id, *shape});
    }
  }
  // Frameworks count ids up, so this is sorted already but for other threads' operators. Of an id
  // given twice the last counts.
  const auto by_id = [](const Entry& a, const Entry& b) { return a.id < b.id; };
  if (!std::is_sorted(by_id_.begin(), by_id_.end(), by_id))
    std::stable_sort(by_id_.begin(), by_id_.end(), by_id);
}

const GemmShape* GemmShapes::of(const DeviceEvent& event) const {
  if (event.external_id == 0) return nullptr;
  const auto after = std::upper_bound(by_id_.begin(), by_id_.end(), event.external_id,
                                      [](std::int64_t id, const Entry& e) { return id < e.id; });
  return after == by_id_.begin() || std::prev(after)->id != event.external_id
             ? nullptr
             : &std::prev(after)->shape;
}

}  // namespace ridgeline::timeline
