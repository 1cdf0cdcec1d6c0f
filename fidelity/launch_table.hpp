#pragma once
// What launching costs on somebody's machine: the rows of scripts/measure_gpu.py's launch.csv as a
// stack's `launch:` section.

#include <string>
#include <vector>

#include "core/document.hpp"
#include "fidelity/table.hpp"

namespace ridgeline::fidelity {

struct LaunchFigure {
  std::string key;  // of a stack's launch section
  double seconds = 0.0;
  std::string from;  // the row, or rows, it was read off
};

/// Whether a table has the columns what, value, unit.
[[nodiscard]] bool is_launch_table(const Table& table);

/// The figures that a table has; rows of other tests, or without a figure, say nothing. The cost of
/// a graph and of a node in it is a straight line through its submissions.
[[nodiscard]] std::vector<LaunchFigure> launch_figures(const Table& table);

/// A stack that builds on `base` and launches as measured.
[[nodiscard]] core::Node launch_overlay(const std::vector<LaunchFigure>& figures,
                                        const std::string& base);

}  // namespace ridgeline::fidelity
