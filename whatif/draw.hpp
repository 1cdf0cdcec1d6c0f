#pragma once
// Random numbers for one generated thing, drawn one after the other. The n-th of a stream depends
// on (seed, stream, n) alone, so that any of them can be made without those before it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/random.hpp"

namespace ridgeline::whatif {

class Draw {
 public:
  Draw(std::uint64_t seed, std::string_view stream, std::int64_t n)
      : stream_(seed, stream), next_(static_cast<std::uint64_t>(n) << 16U) {}

  double uniform(double low, double high) { return low + (high - low) * stream_.uniform(next_++); }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  /// A whole number, evenly spread over the orders of magnitude.
  std::int64_t whole(double low, double high) {
    return static_cast<std::int64_t>(std::llround(log_uniform(low, high)));
  }
  std::size_t one_of(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(uniform(0.0, static_cast<double>(n))));
  }
  bool chance(double p) { return uniform(0.0, 1.0) < p; }

 private:
  core::RandomStream stream_;
  std::uint64_t next_;
};

}  // namespace ridgeline::whatif
