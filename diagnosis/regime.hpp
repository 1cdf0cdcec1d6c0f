#pragma once
// What binds, decided on the ledger: first which side of the machine the time lies on (device,
// launch and host, links, copies), then, on the device, whether the kernels stand near a roof or
// far from their own floors.

#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

enum class Regime : std::uint8_t {
  compute_bound,
  bandwidth_bound,
  capacity_bound,
  overhead_bound,
  communication_bound,
  kernel_inefficiency,
  load_bound,
  transfer_bound,
  mixed,
};
inline constexpr std::array<std::string_view, 9> kRegimeNames{
    "compute_bound",  "bandwidth_bound",     "capacity_bound",
    "overhead_bound", "communication_bound", "kernel_inefficiency",
    "load_bound",     "transfer_bound",      "mixed"};
[[nodiscard]] constexpr std::string_view name_of(Regime r) {
  return kRegimeNames[static_cast<std::size_t>(r)];
}

struct Verdict {
  Regime regime = Regime::mixed;
  Value confidence;  // that this, and not another regime, is right; consistency is judged elsewhere
};

/// The regime of a server whose time goes to that cause.
[[nodiscard]] Regime regime_of_cause(Cause cause);

[[nodiscard]] Verdict regime_of(const Evidence& evidence, const Work& work,
                                const std::optional<TimeBudget>& budget,
                                const std::vector<Clue>& clues = {});

}  // namespace ridgeline::diagnosis
