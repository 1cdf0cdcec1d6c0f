#pragma once
// When generated requests arrive.
//
//   arrivals: {poisson: {rate: 5.5 /s}}               exponential gaps
//   arrivals: {gamma: {rate: 5.5 /s, cv: 2}}          gamma gaps; cv is their standard deviation
//   over their mean arrivals: {constant: {rate: 5.5 /s}}              equal gaps arrivals:
//   {closed_loop: {concurrency: 8, think_time: 1 s}}   clients that wait for an answer before they
//   ask again
//
// The n-th request arrives after n gaps, so the first is not at 0. Random gaps are rescaled as
// `vllm bench serve` does: the last of N requests arrives at N / rate exactly, and two seeds offer
// the same load. `rescale: false` leaves the gaps as drawn. vLLM's --burstiness b is cv = 1 /
// sqrt(b); its rate "inf" is a closed loop as wide as the number of requests.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/instant.hpp"
#include "core/reader.hpp"

namespace ridgeline::workloads {

struct PoissonArrivals {
  double rate = 1.0;  // requests per second
  bool rescale = true;
  bool operator==(const PoissonArrivals&) const = default;
};
struct GammaArrivals {
  double rate = 1.0;
  double cv = 1.0;
  bool rescale = true;
  bool operator==(const GammaArrivals&) const = default;
};
struct ConstantArrivals {
  double rate = 1.0;
  bool operator==(const ConstantArrivals&) const = default;
};
struct ClosedLoop {
  std::int64_t concurrency = 1;    // clients: at most so many requests in flight
  core::Nanoseconds think_time{};  // from an answer to the client's next request
  bool operator==(const ClosedLoop&) const = default;
};
using ArrivalProcess = std::variant<PoissonArrivals, GammaArrivals, ConstantArrivals, ClosedLoop>;

/// The process at the key `arrivals`.
[[nodiscard]] ArrivalProcess read_arrivals(const core::Reader& in);

/// Requests per second; nothing for a closed loop, whose rate is the server's.
[[nodiscard]] std::optional<double> rate_of(const ArrivalProcess& process);

/// When `requests` requests arrive, in order. Not for a closed loop.
[[nodiscard]] std::vector<core::Instant> arrival_times(const ArrivalProcess& process,
                                                       std::int64_t requests, std::uint64_t seed);

}  // namespace ridgeline::workloads
