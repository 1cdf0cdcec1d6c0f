#pragma once
// The ledger: the measured time of one unit of work (a step, a prompt's prefill, a training step)
// split by cause. The floor of the kernels is what their bytes take at peak bandwidth or their
// arithmetic at peak rate, whichever is longer; then their distance from it, the gaps between them,
// the host around them, and what the evidence cannot tell apart.
//
// The lines' numbers add up exactly to the measured time; their bounds are those that such a sum
// allows.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/causes.hpp"
#include "diagnosis/clues.hpp"
#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

enum class LineId : std::uint8_t {
  weights,               // weight bytes at peak bandwidth
  kv_cache,              // KV bytes at peak bandwidth
  traffic,               // bytes at peak bandwidth where only their sum is known
  matrix_arithmetic,     // FLOP at peak
  attention_arithmetic,  // FLOP at peak
  matrix_distance,       // matrix kernels beyond their floor
  attention_distance,    // attention kernels beyond their floor
  kernel_distance,       // all kernels beyond their floor, where classes are not known
  norms,
  elementwise,
  casts,
  other_kernels,
  launch_gaps,
  kernel_floors,  // what each kernel takes however little it does
  host,
  communication,
  transfer,
  lost_to_capacity,
  not_separated,  // kernels beyond their floor, gaps and host, not told apart
  unexplained,
};

struct Line {
  LineId id = LineId::unexplained;
  Cause cause = Cause::unexplained;
  std::string part;
  Value time;
};

struct TimeBudget {
  Value total;  // seconds, or 1 where only shares are known
  bool in_seconds = false;
  std::vector<Line> lines;
  Maybe compute_floor;  // of the matrix kernels, whichever of the two is on the ledger
  Maybe bandwidth_floor;
  Maybe kernels;            // time in which some kernel runs
  std::string_view unit;    // what the time is of: "a decode step", "the time to first token"
  bool host_paced = false;  // the device waits for each launch: a shorter kernel makes a longer gap
  bool back_to_back = false;  // measured gaps no longer than a device needs between two kernels
  bool host_behind = false;   // the host works beside the device, and the device waits for it still
  bool launches_behind = false;  // launched one by one, and the device waits for the launches
  bool overfull =
      false;  // the floors alone exceed the measured time: the evidence contradicts itself

  [[nodiscard]] const Line* find(LineId id) const;
  /// Sum over the lines of a cause, as a share of the total.
  [[nodiscard]] Value share(Cause cause) const;
  [[nodiscard]] Value share(LineId id) const;
};

/// Nothing when the evidence holds neither a time nor a share of one. `clues` split what
/// measurements of the step alone leave open.
[[nodiscard]] std::optional<TimeBudget> time_budget(const Evidence& evidence, const Work& work,
                                                    const std::vector<Clue>& clues = {});

}  // namespace ridgeline::diagnosis
