#include "workloads/arrivals.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/random.hpp"
#include "workloads/law.hpp"
#include "workloads/limits.hpp"

namespace ridgeline::workloads {
namespace {

using ReadArrivals = ArrivalProcess (*)(const core::Reader&);

double read_rate(const core::Reader& in) {
  constexpr double kFastest = 1e9;  // one request a nanosecond
  const std::string expected =
      core::expected_text(core::Dimension::rate) + ", above 0 and at most 1e9 /s";
  const auto rate = core::parse_quantity(in.scalar("rate", expected), core::Dimension::rate);
  in.require(rate && *rate > 0.0 && *rate <= kFastest, "rate", expected);
  return *rate;
}

ArrivalProcess read_poisson(const core::Reader& law) {
  const core::Reader in = law.child("poisson");
  return PoissonArrivals{.rate = read_rate(in), .rescale = in.get("rescale", true)};
}

ArrivalProcess read_gamma(const core::Reader& law) {
  const core::Reader in = law.child("gamma");
  GammaArrivals out{
      .rate = read_rate(in), .cv = in.get<double>("cv"), .rescale = in.get("rescale", true)};
  in.require(out.cv >= 0.001 && out.cv <= 100.0, "cv",
             "a coefficient of variation from 0.001 to 100");
  return out;
}

ArrivalProcess read_constant(const core::Reader& law) {
  return ConstantArrivals{read_rate(law.child("constant"))};
}

ArrivalProcess read_closed_loop(const core::Reader& law) {
  const core::Reader in = law.child("closed_loop");
  ClosedLoop out{.concurrency = in.integer("concurrency", 1, kMostRequests)};
  const auto think = in.get("think_time", core::Seconds{0.0});
  in.require(think.value() <= 1e6, "think_time", "a time of at most 1e6 s");
  out.think_time = core::round_to_ns(think);
  return out;
}

/// The n-th gap, in seconds.
struct Gap {
  const core::RandomStream& stream;
  std::uint64_t n;

  double operator()(const PoissonArrivals& p) const {
    return core::exponential_quantile(stream.uniform(n), 1.0 / p.rate);
  }
  double operator()(const GammaArrivals& p) const {
    const double squared = p.cv * p.cv;  // cv = 1 / sqrt(shape), mean = shape * scale
    return core::gamma_quantile(stream.uniform(n), 1.0 / squared, squared / p.rate);
  }
  double operator()(const ConstantArrivals& p) const { return 1.0 / p.rate; }
  double operator()(const ClosedLoop&) const {
    throw core::InvariantError("a closed loop has no gaps of its own");
  }
};

struct Rescaled {
  bool operator()(const PoissonArrivals& p) const { return p.rescale; }
  bool operator()(const GammaArrivals& p) const { return p.rescale; }
  bool operator()(const ConstantArrivals&) const {
    return true;
  }  // changes nothing but the error of the sum
  bool operator()(const ClosedLoop&) const { return false; }
};

struct Rate {
  std::optional<double> operator()(const PoissonArrivals& p) const { return p.rate; }
  std::optional<double> operator()(const GammaArrivals& p) const { return p.rate; }
  std::optional<double> operator()(const ConstantArrivals& p) const { return p.rate; }
  std::optional<double> operator()(const ClosedLoop&) const { return std::nullopt; }
};

}  // namespace

ArrivalProcess read_arrivals(const core::Reader& in) {
  static const std::vector<core::Choice<ReadArrivals>> processes{
      {"poisson", read_poisson},
      {"gamma", read_gamma},
      {"constant", read_constant},
      {"closed_loop", read_closed_loop},
  };
  return read_law(in, "arrivals", processes);
}

std::optional<double> rate_of(const ArrivalProcess& process) { return std::visit(Rate{}, process); }

std::vector<core::Instant> arrival_times(const ArrivalProcess& process, std::int64_t requests,
                                         std::uint64_t seed) {
  const auto rate = rate_of(process);
  if (!rate)
    throw core::InvariantError("the arrivals of a closed loop depend on when it is answered");
  const core::RandomStream stream(seed, "arrivals");
  const auto count = static_cast<std::uint64_t>(requests);
  std::vector<double> sums;  // the n-th is the sum of the first n gaps
  sums.reserve(count);
  double sum = 0.0;
  for (std::uint64_t n = 0; n < count; ++n) {
    sum += std::visit(Gap{stream, n}, process);
    sums.push_back(sum);
  }

  const bool rescale = std::visit(Rescaled{}, process);
  const double end = static_cast<double>(requests) / *rate;
  const auto time_at = [&](double partial) {
    if (!rescale) return partial;
    // Divided first, so that the last is `end` to the bit. Gaps so bursty that all are zero put
    // every request there.
    return sum > 0.0 ? partial / sum * end : end;
  };
  std::vector<core::Instant> times;
  times.reserve(count);
  for (const double partial : sums) {
    const double seconds =
        std::min(time_at(partial), kLongestSeconds);  // a freak gap must not overflow the clock
    times.push_back(core::Instant{} + core::round_to_ns(core::Seconds{seconds}));
  }
  return times;
}

}  // namespace ridgeline::workloads
