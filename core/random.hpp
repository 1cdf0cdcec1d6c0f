#pragma once
// Named, counter-based random numbers: the n-th number of a stream is a hash of (seed, name, n).
// Any number can be asked for at any time and in any order, two streams never disturb each other,
// and there is no hidden state to carry.

#include <cstdint>
#include <string_view>

namespace ridgeline::core {

/// A well-mixed number for every number, one to one.
[[nodiscard]] std::uint64_t mix(std::uint64_t z);

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  /// 64 well-mixed bits for counter `n`.
  [[nodiscard]] std::uint64_t bits(std::uint64_t n) const;
  /// Uniform in the open interval (0, 1): never 0 nor 1, so that logarithms and quantiles are
  /// finite.
  [[nodiscard]] double uniform(std::uint64_t n) const;
  /// Uniform integer in [low, high].
  [[nodiscard]] std::int64_t uniform_int(std::uint64_t n, std::int64_t low,
                                         std::int64_t high) const;

 private:
  std::uint64_t key_;
};

// Quantiles: what a uniform number `u` in (0, 1) becomes under each law.

/// Exponential law of the given mean.
[[nodiscard]] double exponential_quantile(double u, double mean);
/// Gamma law by shape and scale; mean = shape * scale, coefficient of variation = 1 / sqrt(shape).
[[nodiscard]] double gamma_quantile(double u, double shape, double scale);
/// Lognormal law by its median and the standard deviation of its logarithm.
[[nodiscard]] double lognormal_quantile(double u, double median, double sigma);

}  // namespace ridgeline::core
