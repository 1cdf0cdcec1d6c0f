#pragma once
// Number formats: how many bytes an element takes, and which matrix rate a multiply in it runs at.

#include <array>
#include <cstddef>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace ridgeline::hw {

enum class Dtype { fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4, int4 };
inline constexpr std::size_t kDtypes = 9;

[[nodiscard]] constexpr core::Bytes bytes_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp64:
      return core::Bytes{8.0};
    case Dtype::fp32:
    case Dtype::tf32:
      return core::Bytes{4.0};
    case Dtype::fp16:
    case Dtype::bf16:
      return core::Bytes{2.0};
    case Dtype::fp8:
    case Dtype::int8:
      return core::Bytes{1.0};
    case Dtype::fp4:
    case Dtype::int4:
      return core::Bytes{0.5};
  }
  return core::Bytes{0.0};
}

inline const std::vector<core::Choice<Dtype>>& dtype_names() {
  static const std::vector<core::Choice<Dtype>> names{
      {"fp64", Dtype::fp64}, {"fp32", Dtype::fp32}, {"tf32", Dtype::tf32},
      {"fp16", Dtype::fp16}, {"bf16", Dtype::bf16}, {"fp8", Dtype::fp8},
      {"int8", Dtype::int8}, {"fp4", Dtype::fp4},   {"int4", Dtype::int4}};
  return names;
}

[[nodiscard]] inline std::string_view name_of(Dtype dtype) {
  return dtype_names()[static_cast<std::size_t>(dtype)]
      .name;  // the table stands in the order of the enum
}

/// One value per dtype.
template <class T>
class PerDtype {
 public:
  [[nodiscard]] const T& operator[](Dtype dtype) const {
    return values_[static_cast<std::size_t>(dtype)];
  }
  [[nodiscard]] T& operator[](Dtype dtype) { return values_[static_cast<std::size_t>(dtype)]; }
  bool operator==(const PerDtype&) const = default;

 private:
  std::array<T, kDtypes> values_{};
};

}  // namespace ridgeline::hw
