#pragma once
// The steps of a recording: forward passes of a server, or training steps. By the annotations that
// the framework left, the most informative where several cover the same stretch; else one a graph
// replay; else by the period of the kernels' names; else the whole recording is one step.
//
// A step owns the device events launched within its annotation, and those launched after it and
// before the next (sampling). What was launched before the recording began belongs to no step.
//
// An annotation is the host's view: the host runs ahead, or waits for what it launched before. A
// StepSpan here is the server's view. It begins when the device is free of earlier work, at the
// annotation's start at the earliest; where an unrecorded wait stands before the step's work (a
// copy blocked behind a prefill that the profiler did not see), after the wait. It ends with its
// last event or its annotation, and reaches to the next step where that follows within a step's
// length.

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/launches.hpp"
#include "timeline/recording.hpp"

namespace ridgeline::timeline {

struct Steps {
  enum class How : std::uint8_t { annotations, graph_launches, periodicity, whole };

  std::vector<StepSpan> steps;              // in the order of time; never overlapping
  std::vector<std::int32_t> step_of_event;  // of each device event; -1 for none
  How how = How::whole;
  std::string text;  // how, in a sentence with its numbers

  [[nodiscard]] bool marked() const { return how == How::annotations; }
};

[[nodiscard]] Steps find_steps(const Recording& recording);
[[nodiscard]] Steps find_steps(const Recording& recording, const Launches& launches);

/// The device with the most kernel time; -1 without events.
[[nodiscard]] std::int32_t main_device(const Recording& recording);

}  // namespace ridgeline::timeline
