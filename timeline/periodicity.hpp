#pragma once
// Where a sequence of names repeats itself: the steps of a server that marked none. A name that
// occurs once a step (the argmax, the product of the vocabulary) is found by its even spacing, and
// its distance is the period if the sequence agrees with itself that far on. Layers repeat within a
// step too, with a shorter period; but they disagree at its ends, and the steps do not.

#include <cstdint>
#include <optional>
#include <vector>

namespace ridgeline::timeline {

struct Period {
  std::size_t length = 0;            // in events, the median
  double agreement = 0.0;            // share of events that bear the same name one period on
  std::vector<std::size_t> anchors;  // where the name that marks it stands, ascending; at least two
};

/// `names[i]` and how long event i ran. Nothing when no period fits, or when what occurs only once
/// is more than 1 % of the time: then the layers of one step are what repeats.
[[nodiscard]] std::optional<Period> find_period(const std::vector<std::uint32_t>& names,
                                                const std::vector<std::int64_t>& durations);

}  // namespace ridgeline::timeline
