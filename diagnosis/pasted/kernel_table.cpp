#include "diagnosis/pasted/kernel_table.hpp"

#include <array>
#include <cmath>

#include "core/lower.hpp"
#include "core/quantity_text.hpp"
#include "diagnosis/pasted/rows.hpp"

namespace ridgeline::diagnosis::pasted {

std::optional<double> seconds_in_heading(std::string_view heading) {
  const std::string lower = core::lower(heading);
  const std::size_t open = lower.find('(');
  std::string_view unit = lower;
  if (open != std::string::npos) {
    unit = unit.substr(open + 1);
    unit = time_unit(unit.substr(0, unit.find(')')));
  } else {
    unit = lower.ends_with("ns")   ? "ns"
           : lower.ends_with("us") ? "us"
           : lower.ends_with("ms") ? "ms"
                                   : "";
  }
  if (unit.empty()) return std::nullopt;
  return core::parse_quantity("1 " + std::string(unit), core::Dimension::time);
}

std::optional<double> seconds_of(std::string_view cell) {
  const auto number = number_at(cell);
  if (!number) return std::nullopt;
  const std::string_view unit = time_unit(number->rest);
  if (unit.empty()) return std::nullopt;
  return core::parse_quantity(number->digits + " " + std::string(unit), core::Dimension::time);
}

bool is_host_call(std::string_view name) {
  constexpr std::array<std::string_view, 4> kBeginnings{"cuda", "hip", "cu", "hsa_"};
  for (const std::string_view beginning : kBeginnings) {
    if (!name.starts_with(beginning) || name.size() <= beginning.size()) continue;
    const char next = name[beginning.size()];
    if (beginning == "hsa_" || (next >= 'A' && next <= 'Z')) return true;
  }
  return false;
}

void KernelTable::begin(const Line& line, Findings& out) {
  is_taken_ = out.kernels.empty();
  is_open_ = true;
  if (!is_taken_) out.facts.doubt(line, "a second table of kernels; the first one is taken");
}

void KernelTable::add(std::string_view name, const std::optional<Number>& calls,
                      std::optional<double> seconds, const Line& line, Findings& out) const {
  constexpr double kMostCalls = 1e15;
  if (!is_taken_ || name.empty() || is_host_call(name) || !calls || !seconds) return;
  if (calls->value < 1.0 || calls->value > kMostCalls || *seconds <= 0.0 ||
      !std::isfinite(*seconds))
    return;
  out.kernels.push_back({std::string(name), static_cast<std::int64_t>(std::llround(calls->value)),
                         *seconds, std::string(line.text), line.number});
}

}  // namespace ridgeline::diagnosis::pasted
