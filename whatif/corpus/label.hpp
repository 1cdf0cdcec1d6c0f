#pragma once
// What limits a scenario, by what its speed responds to. Each resource is improved a little, the
// scenario runs again with the same requests, and the response is
//
//     elasticity = ln(speed after / speed before) / ln(improvement)
//
// 1 means that the resource is all that counts, 0 that it does not matter. The step's own resources
// and the load are improved by 10 %; KV blocks by 50 %, since a few of them make no sequence more;
// the clients of a closed loop by whole ones.
//
// From elasticities to a regime:
//
//   load_bound           no step runs for half of the time or more, and the speed follows the load
//                        by at least 0.5
//   capacity_bound       else, if the speed follows the KV blocks by at least 0.3: they set how
//                        many sequences share a step, and all else is about a step with as many
//   kernel_inefficiency  else, if the largest is the matrix rate, HBM bandwidth or the kernels'
//                        distance from their floor, and the kernels of the steps that the diagnosis
//                        looks at spend less than 0.4 of their time at what the machine sustains
//                        (diagnosis/regime.cpp draws the line there): in the simulator a slow
//                        kernel still gets faster with more bandwidth, which is not its cure
//   compute_bound, bandwidth_bound, overhead_bound, communication_bound
//                        else, the largest of matrix rate, HBM bandwidth, launches and host, links
//   mixed                the two largest are of different sides (device, host, links) and within
//                        0.05 of each other
//
// The same is asked of the steps that the diagnosis looks at, alone, their shapes unchanged: of a
// server whose prompts take half of its time, the decode steps can have another limiter than the
// run. Beside the regime stand those that nobody could blame a diagnosis for: what these steps say,
// whatever is within 0.1 of the largest, the device where all of it together is, and both sides of
// a line that is near. transfer_bound does not occur: no copies through PCIe are simulated.

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/regime.hpp"
#include "whatif/interventions.hpp"
#include "whatif/objective.hpp"
#include "whatif/profile.hpp"

namespace ridgeline::whatif {

enum class Resource : std::uint8_t {
  matrix_rate,
  hbm_bandwidth,
  launch_and_host,
  links,
  kernels,   // their distance from bytes at peak bandwidth or useful FLOP at peak rate
  capacity,  // KV blocks
  load,
};
inline constexpr std::size_t kResources = 7;
[[nodiscard]] std::string_view name_of(Resource resource);

using Elasticities = std::array<double, kResources>;

/// What a fix does to the speed in truth.
struct TrueGain {
  std::string_view fix;
  std::optional<double> gain;  // speed after over speed before; nothing where it was not run
  std::string_view why_not;    // then
};

struct Label {
  Objective objective = Objective::output_rate;
  double speed = 0.0;         // as the objective has it
  Elasticities elasticity{};  // of the speed
  Elasticities of_steps{};    // of the time of the steps looked at; not of capacity and load
  double near_roof = 0.0;     // share of kernel time at what the machine sustains
  double idle = 0.0;          // share of the run without a step
  diagnosis::Regime regime = diagnosis::Regime::mixed;
  std::vector<diagnosis::Regime> accepted;  // the regime first
  double margin = 0.0;                      // of the largest elasticity over the next side's
  std::vector<std::string> faults;          // planted
  std::vector<TrueGain> gains;              // one for every fix

  [[nodiscard]] double operator[](Resource r) const {
    return elasticity[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] bool accepts(diagnosis::Regime r) const;
};

/// Share of their time that the kernels of the chosen steps would take at what the machine
/// sustains. Score matrices that are written out count as time and not as bytes that have to move.
[[nodiscard]] double near_roof(const sim::RunResult& result, const ProfileChoice& choice);

/// The regime that follows from the numbers of a label.
void judge(Label& label);

/// The label of a scenario that ran; `result` is its run. Runs it seven times more.
[[nodiscard]] Label label_of(const sim::RunResult& result, const sim::Metrics& metrics);

/// What every fix would bring, by running the scenario with each.
[[nodiscard]] std::vector<TrueGain> true_gains(const sim::Scenario& scenario, const Label& label,
                                               const core::ConfigLibrary& library);

[[nodiscard]] nlohmann::ordered_json to_json(const Label& label);

}  // namespace ridgeline::whatif
