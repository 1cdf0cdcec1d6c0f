#pragma once
// Evidence from a timeline. What a person would type with half a digit of doubt is read exactly
// here, and what a person rarely knows (kernel time by class, gaps, host time, useful FLOP, tokens
// a step) is known.

#include "diagnosis/evidence.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::diagnosis {

struct Observation {
  std::string title;
  /// Of the steps that the diagnosis is about: filter to the phase in question before summing.
  /// Where several devices share the model, the timeline of one of them: its kernels, its FLOP, its
  /// bytes.
  timeline::Summary summary;
  /// Peaks that fractions are taken of.
  hw::GpuSpec gpu;
  /// Facts of the model, as far as they are known.
  Model model;
  /// Lengths, arrivals, microbatch, KV usage: whatever the server's set-up says. Tokens a step and
  /// contexts are taken from the summary where it has them.
  Serving serving;
  Engine engine;
  /// What clients saw: throughput, ttft, itl. The time of a step is taken from the summary.
  Measured measured;
  double devices = 1.0;  // that share one copy of the model
  /// Share of the run in which no step ran, where it is known.
  std::optional<double> idle_fraction;
  std::vector<std::string> proposals;
};

/// Errors (ConfigError): a summary of no steps or no time, which no window of a timeline should
/// have been chosen for.
[[nodiscard]] Evidence observe(const Observation& observation);

}  // namespace ridgeline::diagnosis
