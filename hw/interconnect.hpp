#pragma once
// The links between the GPUs of one node, and what a communication library makes of them.
//
// Two topologies: on a full mesh every pair of GPUs has a link of its own, so k GPUs use k - 1 of
// each GPU's links; through a switch every GPU has one port to all the others. Left out: several
// nodes, links shared with the host, errors and retries.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace ridgeline::hw {

enum class Topology : std::uint8_t {
  full_mesh,    // a link between every two GPUs
  node_switch,  // a port into a switch that connects all of them
};

/// How a collective is carried out; what each moves is in hw/collective_cost.hpp.
enum class CollectiveAlgorithm : std::uint8_t {
  one_shot,   // every GPU sends all it has to every other, one step
  two_shot,   // every GPU owns a share: scattered, then gathered, two steps
  in_switch,  // the switch itself adds (NVLink SHARP)
};

/// Number format on the links. Integer formats carry a 16-bit scale for every 32 numbers.
enum class WireCodec : std::uint8_t { none, fp8, int8, int6, int4 };

/// Bytes on the link for a byte of a 16-bit tensor.
[[nodiscard]] constexpr double wire_ratio(WireCodec codec) {
  switch (codec) {
    case WireCodec::none:
      return 1.0;
    case WireCodec::fp8:
      return 0.5;
    case WireCodec::int8:
      return 8.5 / 16.0;
    case WireCodec::int6:
      return 6.5 / 16.0;
    case WireCodec::int4:
      return 4.5 / 16.0;
  }
  return 1.0;
}

/// A library of collectives on one kind of node. What a file leaves out costs nothing: peak link
/// rate, no latency.
struct CollectiveLibrary {
  std::string name;
  std::vector<std::string> aliases{};  // what tables of measurements call it, lower case
  std::vector<std::string> where{};    // words, lower case, of the only places it was measured at
  std::vector<CollectiveAlgorithm> algorithms{CollectiveAlgorithm::two_shot};
  double link_efficiency = 1.0;  // share of a link's rate that payload reaches
  core::Seconds fixed{};         // kernel start, argument checks, last barrier
  core::Seconds per_step{};      // a flag to the other GPUs and back, for each step that depends on
                                 // one before
  core::Seconds per_peer{};      // for each other GPU: flags are written and polled one by one
  // Filling and draining the pipeline, when links stand idle: the hops of a message hold
  // `fill_share` of it together, and each at most `fill_piece`.
  double fill_share = 0.0;
  core::Bytes fill_piece{};
  core::BytesPerSecond local_rate{};  // reading, adding and writing the tensor itself; 0: costs
                                      // nothing
  core::Seconds codec_fixed{};        // finding scales, packing
  core::BytesPerSecond codec_rate{};  // packed bytes through the codec; 0: costs nothing
  double spread = 0.0;                // standard deviation of log(predicted / measured)
  core::Bytes anchored_from{};        // message sizes that were measured; 0 to 0: none
  core::Bytes anchored_to{};
  std::int64_t anchored_gpus = 0;  // most GPUs that were measured

  bool operator==(const CollectiveLibrary&) const = default;
};

struct NodeSpec {
  Topology topology = Topology::full_mesh;
  std::int64_t gpus = 1;
  core::BytesPerSecond rate{};  // per direction: of the link between two GPUs, or of a GPU's port
                                // into the switch
  std::vector<CollectiveLibrary> libraries;

  bool operator==(const NodeSpec&) const = default;

  /// The library of that name; SimulationError, with the names there are, when there is none.
  [[nodiscard]] const CollectiveLibrary& collectives(std::string_view name) const;
};

/// Reads `interconnect:` of a machine; errors as core/reader.hpp has them.
[[nodiscard]] NodeSpec read_node_spec(const core::Reader& in);

}  // namespace ridgeline::hw
