#include "hw/interconnect.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace ridgeline::hw {
namespace {

const std::vector<core::Choice<Topology>> kTopologies{{"full_mesh", Topology::full_mesh},
                                                      {"switch", Topology::node_switch}};
const std::vector<core::Choice<CollectiveAlgorithm>> kAlgorithms{
    {"one_shot", CollectiveAlgorithm::one_shot},
    {"two_shot", CollectiveAlgorithm::two_shot},
    {"in_switch", CollectiveAlgorithm::in_switch}};

core::Seconds short_time(const core::Reader& in, std::string_view key) {
  const auto value = in.get<core::Seconds>(key, core::Seconds{});
  in.require(value.value() >= 0.0 && value <= core::Seconds{1.0}, key, "a time from 0 to 1 s");
  return value;
}

core::BytesPerSecond rate(const core::Reader& in, std::string_view key) {
  const auto value = in.get<core::BytesPerSecond>(key);
  in.require(value >= core::BytesPerSecond{1e6} && value <= core::BytesPerSecond{1e18}, key,
             "a rate from 1 MB/s to 1e6 TB/s");
  return value;
}

core::BytesPerSecond rate_or_free(const core::Reader& in, std::string_view key) {
  return in.has(key) ? rate(in, key) : core::BytesPerSecond{};
}

CollectiveLibrary read_library(const core::Reader& in, const std::string& name) {
  CollectiveLibrary library;
  library.name = name;
  if (in.has("aliases")) library.aliases = in.words("aliases");
  if (in.has("where")) library.where = in.words("where");
  if (in.has("algorithms")) {
    library.algorithms.clear();
    for (const std::string& word : in.words("algorithms")) {
      const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                      [&](const auto& choice) { return choice.name == word; });
      if (found == kAlgorithms.end())
        in.reject("algorithms", "expected one_shot, two_shot or in_switch, got '" + word + "'");
      library.algorithms.push_back(found->value);
    }
    in.require(!library.algorithms.empty(), "algorithms", "at least one algorithm");
  }
  if (in.has("link_efficiency"))
    library.link_efficiency = in.fraction("link_efficiency", 0.001, 1.0);
  library.fixed = short_time(in, "fixed");
  library.per_step = short_time(in, "per_step");
  library.per_peer = short_time(in, "per_peer");
  library.fill_share = in.get<double>("fill_share", 0.0);
  in.require(library.fill_share >= 0.0 && library.fill_share <= 1e3, "fill_share",
             "a number from 0 to 1000");
  library.fill_piece = in.get<core::Bytes>("fill_piece", core::Bytes{});
  in.require(library.fill_piece.value() >= 0.0 && library.fill_piece <= core::Bytes{1e12},
             "fill_piece", "a size from 0 to 1 TB");
  library.local_rate = rate_or_free(in, "local_rate");
  library.codec_fixed = short_time(in, "codec_fixed");
  library.codec_rate = rate_or_free(in, "codec_rate");
  if (in.has("spread")) library.spread = in.fraction("spread", 0.0, 3.0);
  library.anchored_from = in.get<core::Bytes>("anchored_from", core::Bytes{});
  library.anchored_to = in.get<core::Bytes>("anchored_to", core::Bytes{});
  in.require(library.anchored_from <= library.anchored_to, "anchored_to",
             "a size of at least anchored_from");
  if (in.has("anchored_gpus")) library.anchored_gpus = in.integer("anchored_gpus", 2, 100000);
  if (in.has("source")) static_cast<void>(in.raw("source"));
  return library;
}

}  // namespace

const CollectiveLibrary& NodeSpec::collectives(std::string_view name) const {
  std::string names;
  for (const CollectiveLibrary& one : libraries) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + one.name;
  }
  throw core::SimulationError("the machine has no communication library '" + std::string(name) +
                              "'; it has " + (names.empty() ? "none" : names));
}

NodeSpec read_node_spec(const core::Reader& in) {
  NodeSpec node;
  node.topology = in.choice("topology", kTopologies);
  node.gpus = in.integer("gpus", 1, 100000);
  node.rate = rate(in, "rate");
  if (in.has("libraries")) {
    const core::Reader libraries = in.child("libraries");
    for (const std::string& name : libraries.keys()) {
      if (libraries.has(name))  // a machine may leave out what the one it builds on has
        node.libraries.push_back(read_library(libraries.child(name), name));
    }
  }
  if (in.has("sources")) static_cast<void>(in.raw("sources"));
  return node;
}

}  // namespace ridgeline::hw
