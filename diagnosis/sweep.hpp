#pragma once
// The same server at several points: what a slope and an intercept settle that no single point can.
// Over devices, the part of the time that does not shrink; over sequences, the part that is paid
// once a step; over contexts, the rate at which attention really reads; over the offered rate,
// whether the server keeps up.

#include <vector>

#include "diagnosis/clues.hpp"

namespace ridgeline::diagnosis {

/// A straight line by least squares of relative errors.
struct Line2 {
  double intercept = 0.0;
  double slope = 0.0;
};
struct Point2 {
  double x = 0.0;
  double y = 0.0;
};
[[nodiscard]] Line2 fit_line(const std::vector<Point2>& points);

[[nodiscard]] std::vector<Clue> clues_of_sweep(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
