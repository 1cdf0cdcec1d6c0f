#pragma once
// Which two measurements to ask for first, before any opinion. Asked of the simulator itself: over
// many random servers whose true limiter is known, how much does each pair of cheap measurements
// tell about it?
//
// The true limiter of a server is what its step time responds to most when one thing gets 10 %
// faster: the matrix rate, HBM, or the host and the fixed costs of kernels. What a pair tells is
// its mutual information with that label, in bits, each measurement cut into eight equally filled
// ranges.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ridgeline::whatif {

struct Synthesis {
  struct Measurement {
    std::string name;
    std::string meaning;
    double bits = 0.0;  // what it tells alone
  };
  struct Pair {
    std::string first;
    std::string second;
    double bits = 0.0;
  };
  std::int64_t servers = 0;
  std::map<std::string, std::int64_t> limiters;  // how often each was the true one
  double label_bits = 0.0;                       // entropy of the limiter: all there is to know
  std::vector<Measurement> measurements;         // the most telling first
  std::vector<Pair> pairs;                       // the most telling first
};

/// Deterministic in its arguments.
[[nodiscard]] Synthesis synthesize(std::int64_t servers = 6000, std::uint64_t seed = 1);

[[nodiscard]] nlohmann::ordered_json to_json(const Synthesis& synthesis);
[[nodiscard]] std::string to_text(const Synthesis& synthesis);

}  // namespace ridgeline::whatif
