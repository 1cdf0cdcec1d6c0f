#include "core/random.hpp"

#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace ridgeline::core {

// SplitMix64's finalizer: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

namespace {

constexpr std::uint64_t kStreams = 0x5249444745ULL;  // keeps a stream's key apart from its counters

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(mix(seed ^ kStreams)) {
  for (const char c : name) key_ = mix(key_ ^ static_cast<unsigned char>(c));
}

std::uint64_t RandomStream::bits(std::uint64_t n) const { return mix(key_ ^ mix(n)); }

double RandomStream::uniform(std::uint64_t n) const {
  return (static_cast<double>(bits(n) >> 12) + 0.5) *
         0x1.0p-52;  // 52 bits, so that adding a half rounds nothing
}

std::int64_t RandomStream::uniform_int(std::uint64_t n, std::int64_t low, std::int64_t high) const {
  const double span = static_cast<double>(high - low) + 1.0;
  return low + static_cast<std::int64_t>(std::floor(uniform(n) * span));
}

double exponential_quantile(double u, double mean) { return -mean * std::log1p(-u); }

double gamma_quantile(double u, double shape, double scale) {
  return boost::math::quantile(boost::math::gamma_distribution<double>(shape, scale), u);
}

double lognormal_quantile(double u, double median, double sigma) {
  return median *
         std::exp(sigma * boost::math::quantile(boost::math::normal_distribution<double>(), u));
}

}  // namespace ridgeline::core
