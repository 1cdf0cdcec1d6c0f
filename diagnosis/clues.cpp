#include "diagnosis/clues.hpp"

#include <algorithm>
#include <utility>

#include "diagnosis/sweep.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/timers.hpp"
#include "diagnosis/trials.hpp"

namespace ridgeline::diagnosis {

Clue share_clue(Causes causes, core::Interval share, double best, std::string statement,
                Origin origin) {
  Clue clue;
  clue.causes = causes;
  clue.share = core::clamp(share, 0.0, 1.0);
  clue.value = Value(clue.share, std::clamp(best, clue.share.low, clue.share.high), origin);
  clue.unit = "fraction";
  clue.statement = std::move(statement);
  return clue;
}

std::vector<Clue> clues_of(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  const auto take = [&out](std::vector<Clue> clues) {
    for (Clue& clue : clues) out.push_back(std::move(clue));
  };
  take(clues_of_trials(e, w));
  take(clues_of_sweep(e, w));
  take(clues_of_timers(e, w));
  take(clues_of_kernels(e, w));
  take(clues_of_memory(e, w));
  take(clues_of_symptoms(e));
  return out;
}

}  // namespace ridgeline::diagnosis
