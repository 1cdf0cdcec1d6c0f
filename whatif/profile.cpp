#include "whatif/profile.hpp"

#include "sim/run_timeline.hpp"

namespace ridgeline::whatif {
namespace {

bool chosen(const sim::StepRecord& step, StepChoice choice) {
  switch (choice) {
    case StepChoice::all:
      return true;
    case StepChoice::decode:
      return step.prefill_sequences == 0;
    case StepChoice::prefill:
      return step.prefill_sequences > 0;
  }
  return false;
}

}  // namespace

ProfileChoice read_profile_choice(const core::Reader& in) {
  ProfileChoice choice;
  if (in.has("profile")) {
    choice.steps = in.choice<StepChoice>("profile", {{"all", StepChoice::all},
                                                     {"decode", StepChoice::decode},
                                                     {"prefill", StepChoice::prefill}});
  }
  if (in.has("window")) {
    const auto words = in.words("window");
    const auto from = words.size() == 2 ? core::parse_quantity(words[0], core::Dimension::fraction)
                                        : std::nullopt;
    const auto to = words.size() == 2 ? core::parse_quantity(words[1], core::Dimension::fraction)
                                      : std::nullopt;
    if (!from || !to || *from < 0.0 || *to > 1.0 || *from >= *to) {
      in.reject("window", "expected two rising fractions of the run like [0.2, 0.8]");
    }
    choice.from = *from;
    choice.to = *to;
  }
  return choice;
}

timeline::Window window_of(const sim::RunResult& result, const ProfileChoice& choice) {
  const double length = static_cast<double>(result.end().ns);
  return {core::Instant{static_cast<std::int64_t>(choice.from * length)},
          choice.to >= 1.0 ? core::kNever
                           : core::Instant{static_cast<std::int64_t>(choice.to * length)}};
}

std::vector<std::size_t> chosen_steps(const sim::RunResult& result, const ProfileChoice& choice,
                                      std::size_t most) {
  const timeline::Window window = window_of(result, choice);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    if (window.holds(result.steps[i].start) && chosen(result.steps[i], choice.steps))
      candidates.push_back(i);
  }
  if (candidates.size() <= most) return candidates;
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < most; ++i) sample.push_back(candidates[i * candidates.size() / most]);
  return sample;
}

timeline::Summary profile(const sim::RunResult& result, const ProfileChoice& choice) {
  const sim::Scenario& s = result.scenario;
  const double matrix = s.gpu.peak[s.model.math].value() * s.gpu.sustained[s.model.math];
  return timeline::summarize(
      sim::RunTimeline(result, chosen_steps(result, choice, choice.most_steps)), {}, {},
      {s.gpu.hbm.bandwidth * s.gpu.hbm.sustained, core::FlopPerSecond{matrix}});
}

}  // namespace ridgeline::whatif
