#pragma once
// Looking at a finished run as a profiler would: which steps, of which part of the run, and what
// they amount to.

#include <cstdint>
#include <vector>

#include "sim/run_result.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::whatif {

enum class StepChoice : std::uint8_t {
  all,
  decode,
  prefill
};  // decode: no prefill in it; prefill: any

struct ProfileChoice {
  StepChoice steps = StepChoice::all;
  double from = 0.0;  // of the run's length
  double to = 1.0;
  std::size_t most_steps = 2000;  // an even sample of longer runs
};

/// Reads `profile: decode` and `window: [0.2, 0.8]`, both optional.
[[nodiscard]] ProfileChoice read_profile_choice(const core::Reader& in);

[[nodiscard]] timeline::Window window_of(const sim::RunResult& result, const ProfileChoice& choice);

/// Indices of the chosen steps, an even sample of at most `most` of them.
[[nodiscard]] std::vector<std::size_t> chosen_steps(const sim::RunResult& result,
                                                    const ProfileChoice& choice, std::size_t most);

/// Summary of the chosen steps. `steps == 0` when there is none.
[[nodiscard]] timeline::Summary profile(const sim::RunResult& result, const ProfileChoice& choice);

}  // namespace ridgeline::whatif
