#pragma once
// The m, n, k of matrix products from the operators that launched them, where their input shapes
// were recorded. A kernel in a graph belongs to no operator, so replayed products stay unknown.

#include <cstdint>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

struct GemmShape {
  GemmFacts facts;                 // of one product
  std::int64_t batch = 1;          // of bmm
  std::int64_t element_bytes = 2;  // of the inputs

  /// 2 m n k of each.
  [[nodiscard]] core::Flop flop() const;
  /// Inputs read once and the result written once.
  [[nodiscard]] core::Bytes bytes() const;
};

/// Shapes by the external id that kernels carry.
class GemmShapes {
 public:
  explicit GemmShapes(const Recording& recording);

  /// Of a product's kernel; null when no operator with known shapes launched it. Ask only for
  /// kernels of class gemm: an operator may launch others beside its product.
  [[nodiscard]] const GemmShape* of(const DeviceEvent& event) const;
  [[nodiscard]] std::size_t size() const { return by_id_.size(); }

 private:
  struct Entry {
    std::int64_t id = 0;
    GemmShape shape;
  };
  std::vector<Entry> by_id_;  // ascending
};

}  // namespace ridgeline::timeline
