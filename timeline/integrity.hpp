#pragma once
// Can this recording be believed? Each gate is one way in which real traces mislead: a profiler
// that drops graph replays shows an idle device that was not, a capture run shows launches that
// never ran. They are passed before a regime is named; a decisive gate that fails is itself the
// answer.
//
// Limits: Hyperloom for replays and overlap; the rest are ours, each beside its constant in
// integrity.cpp.

#include <string>
#include <vector>

#include "timeline/steps.hpp"

namespace ridgeline::timeline {

struct Gate {
  std::string name;  // "graph_replays"
  bool passed = true;
  bool decisive = false;  // busy and idle time mean nothing when it fails; the others only warn
  double value = 0.0;     // as the sentence says it: a share, microseconds, a count
  double limit = 0.0;
  std::string sentence;  // what was found, in plain words, whether it passed or not
};

[[nodiscard]] std::vector<Gate> check_integrity(const Recording& recording, const Steps& steps,
                                                const Launches& launches);
[[nodiscard]] std::vector<Gate> check_integrity(const Recording& recording, const Steps& steps);

/// True when no decisive gate failed.
[[nodiscard]] bool believable(const std::vector<Gate>& gates);

}  // namespace ridgeline::timeline
