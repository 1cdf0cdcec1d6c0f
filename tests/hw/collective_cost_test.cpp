#include "hw/collective_cost.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using namespace ridgeline::core::literals;
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::core::Seconds;
using ridgeline::tests::error_of;

/// Eight GPUs; a link moves 1 MB in 1 us.
NodeSpec easy_node(Topology topology) {
  NodeSpec node;
  node.topology = topology;
  node.gpus = 8;
  node.rate = 1.0_TBps;
  return node;
}

CollectiveLibrary neutral(std::vector<CollectiveAlgorithm> algorithms = {
                              CollectiveAlgorithm::two_shot}) {
  CollectiveLibrary library;
  library.algorithms = std::move(algorithms);
  return library;
}

CollectiveQuery of(CollectiveKind kind, std::int64_t gpus, Bytes bytes,
                   WireCodec codec = WireCodec::none) {
  return {kind, gpus, bytes, codec};
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                     CollectiveKind::broadcast,  CollectiveKind::send};

/// RCCL and QuickReduce on MI300X, constants as they were fitted.
CollectiveLibrary rccl() {
  CollectiveLibrary library;
  library.link_efficiency = 0.735;
  library.fixed = 14.7_us;
  library.per_step = 1.0_us;
  library.per_peer = 0.45_us;
  library.fill_share = 0.726;
  library.fill_piece = Bytes{63.4e3};
  return library;
}
CollectiveLibrary quick() {
  CollectiveLibrary library;
  library.link_efficiency = 0.713;
  library.fixed = 4.49_us;
  library.per_step = 1.0_us;
  library.per_peer = 1.10_us;
  library.local_rate = BytesPerSecond{454e9};
  library.codec_fixed = 11.4_us;
  library.codec_rate = BytesPerSecond{121e9};
  return library;
}
NodeSpec mi300x_node() {
  NodeSpec node = easy_node(Topology::full_mesh);
  node.rate = BytesPerSecond{64e9};
  return node;
}

TEST_CASE("On free links a collective takes what its bytes take", "[hw][collective_cost]") {
  const NodeSpec mesh = easy_node(Topology::full_mesh);
  const NodeSpec port = easy_node(Topology::node_switch);
  const Bytes mb = 8.0_MB;  // among 8: 1 MB a share
  const auto us = [&](CollectiveKind kind, const NodeSpec& node,
                      CollectiveAlgorithm algorithm = CollectiveAlgorithm::two_shot) {
    return cost_of(of(kind, 8, mb), node, neutral({algorithm})).time.value() * 1e6;
  };
  CHECK(us(CollectiveKind::all_reduce, mesh) == Approx(2.0));   // a share scattered, one gathered
  CHECK(us(CollectiveKind::all_reduce, port) == Approx(14.0));  // 2 x 7 shares through the port
  CHECK(us(CollectiveKind::all_reduce, mesh, CollectiveAlgorithm::one_shot) == Approx(8.0));
  CHECK(us(CollectiveKind::all_reduce, port, CollectiveAlgorithm::one_shot) == Approx(56.0));
  CHECK(us(CollectiveKind::all_reduce, port, CollectiveAlgorithm::in_switch) == Approx(8.0));
  for (const CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    CHECK(us(kind, mesh) == Approx(1.0));
    CHECK(us(kind, port) == Approx(7.0));
  }
  CHECK(us(CollectiveKind::broadcast, mesh) == Approx(2.0));
  CHECK(us(CollectiveKind::send, mesh) == Approx(8.0));  // one link of the seven
  CHECK(us(CollectiveKind::send, port) == Approx(8.0));
}

TEST_CASE("Latency counts the steps and the peers", "[hw][collective_cost]") {
  CollectiveLibrary library = neutral();
  library.fixed = 10.0_us;
  library.per_step = 2.0_us;
  library.per_peer = 1.0_us;
  const NodeSpec node = easy_node(Topology::full_mesh);
  // 10 + 2 steps x 2 + 3 peers x 1
  CHECK(cost_of(of(CollectiveKind::all_reduce, 4, Bytes{0.0}), node, library).time.value() ==
        Approx(17e-6));
  CHECK(cost_of(of(CollectiveKind::all_gather, 4, Bytes{0.0}), node, library).time.value() ==
        Approx(15e-6));
}

TEST_CASE("The fastest algorithm is taken: one shot while steps cost more than bytes",
          "[hw][collective_cost]") {
  CollectiveLibrary library =
      neutral({CollectiveAlgorithm::one_shot, CollectiveAlgorithm::two_shot});
  library.per_step = 3.0_us;
  const NodeSpec node = easy_node(Topology::full_mesh);
  const auto algorithm = [&](Bytes bytes) {
    return cost_of(of(CollectiveKind::all_reduce, 8, bytes), node, library).algorithm;
  };
  // 3 us + B against 6 us + B / 4: equal at 4 MB
  CHECK(algorithm(3.9_MB) == CollectiveAlgorithm::one_shot);
  CHECK(algorithm(4.1_MB) == CollectiveAlgorithm::two_shot);
}

TEST_CASE("Two GPUs add while they send, more take turns", "[hw][collective_cost]") {
  CollectiveLibrary library = neutral();
  library.local_rate = 1.0_TBps;
  const NodeSpec node = easy_node(Topology::full_mesh);
  // wire: 8 MB among 2, 4 MB among 4; local: 8 MB
  CHECK(cost_of(of(CollectiveKind::all_reduce, 2, 8.0_MB), node, library).time.value() ==
        Approx(8e-6));
  CHECK(cost_of(of(CollectiveKind::all_reduce, 4, 8.0_MB), node, library).time.value() ==
        Approx(12e-6));
}

TEST_CASE("The pipeline's fill grows with the message and then stops", "[hw][collective_cost]") {
  CollectiveLibrary library = neutral();
  library.fill_share = 0.5;
  library.fill_piece = 0.1_MB;
  const NodeSpec node = easy_node(Topology::full_mesh);
  const auto wire = [&](Bytes bytes) {
    return cost_of(of(CollectiveKind::all_reduce, 8, bytes), node, library).wire.value() * 1e6;
  };
  CHECK(wire(4.0_MB) == Approx(1.5));      // 1 MB over the link and half of it again
  CHECK(wire(400.0_MB) == Approx(101.4));  // 100 MB and 14 hops of 0.1 MB
}

TEST_CASE("A codec shrinks the wire and costs its own time", "[hw][collective_cost]") {
  CollectiveLibrary library = neutral();
  library.codec_fixed = 5.0_us;
  library.codec_rate = 1.0_TBps;
  const NodeSpec node = easy_node(Topology::full_mesh);
  const CollectiveCost cost =
      cost_of(of(CollectiveKind::all_reduce, 8, 16.0_MB, WireCodec::int4), node, library);
  CHECK(cost.link_bytes.value() == Approx(1.125e6));  // 16 MB x 4.5 / 16 x 2 / 8
  CHECK(cost.local.value() == Approx(4.5e-6));
  CHECK(cost.time.value() == Approx(10.625e-6));
}

TEST_CASE("No collective beats its links, and more bytes never take less time",
          "[hw][collective_cost]") {
  for (const CollectiveLibrary& library : {neutral(), rccl(), quick()}) {
    for (const Topology topology : {Topology::full_mesh, Topology::node_switch}) {
      NodeSpec node = mi300x_node();
      node.topology = topology;
      for (const CollectiveKind kind : kKinds) {
        for (std::int64_t gpus = 2; gpus <= 8; ++gpus) {
          Seconds before{};
          for (double bytes = 1.0; bytes < 1e11; bytes *= 3.0) {
            const CollectiveCost cost = cost_of(of(kind, gpus, Bytes{bytes}), node, library);
            REQUIRE(cost.time >= cost.floor);
            REQUIRE(cost.time > before);
            before = cost.time;
          }
        }
      }
    }
  }
}

TEST_CASE(
    "Published all-reduces of eight MI300X come out within 15 %, and RCCL below 1 MB within 35 %",
    "[hw][collective_cost]") {
  // mk1-project/quickreduce README, 910e892: bytes, RCCL 2.20.5 and QuickReduce fp16 in us.
  struct Row {
    double bytes;
    double rccl;
    double quick;
  };
  for (const Row& row : std::vector<Row>{{32768, 16.2, 14.8},
                                         {262144, 18.0, 16.4},
                                         {1048576, 26.4, 20.0},
                                         {4194304, 52.1, 46.8},
                                         {16777216, 148, 147},
                                         {67108864, 426, 464}}) {
    INFO(row.bytes);
    const CollectiveQuery query = of(CollectiveKind::all_reduce, 8, Bytes{row.bytes});
    CHECK(cost_of(query, mi300x_node(), rccl()).time.value() * 1e6 ==
          Approx(row.rccl).epsilon(row.bytes < 1e6 ? 0.35 : 0.15));  // its protocols switch there
    CHECK(cost_of(query, mi300x_node(), quick()).time.value() * 1e6 ==
          Approx(row.quick).epsilon(0.15));
  }
}

TEST_CASE("One GPU has nobody to talk to, and a node no more GPUs than it has",
          "[hw][collective_cost]") {
  const NodeSpec node = easy_node(Topology::full_mesh);
  CHECK(cost_of(of(CollectiveKind::all_reduce, 1, 8.0_MB), node, rccl()).time.value() == 0.0);
  CHECK_THROWS_AS(cost_of(of(CollectiveKind::all_reduce, 9, 8.0_MB), node, rccl()),
                  ridgeline::core::InvariantError);
  CHECK_THROWS_AS(cost_of(of(CollectiveKind::all_reduce, 8, Bytes{-1.0}), node, rccl()),
                  ridgeline::core::InvariantError);
}

TEST_CASE("A prediction says whether anybody measured there", "[hw][collective_cost]") {
  CollectiveLibrary library = rccl();
  library.spread = 0.13;
  library.anchored_from = Bytes{32768};
  library.anchored_to = 64.0_MB;
  library.anchored_gpus = 4;
  const auto cost = [&](CollectiveKind kind, std::int64_t gpus, Bytes bytes) {
    return cost_of(of(kind, gpus, bytes), mi300x_node(), library);
  };
  CHECK_FALSE(cost(CollectiveKind::all_reduce, 4, 1.0_MB).extrapolated);
  CHECK(cost(CollectiveKind::all_reduce, 8, 1.0_MB).extrapolated);
  CHECK(cost(CollectiveKind::all_reduce, 4, Bytes{1024}).extrapolated);
  CHECK(cost(CollectiveKind::all_gather, 4, 1.0_MB).extrapolated);
  CHECK(cost(CollectiveKind::all_gather, 4, 1.0_MB).spread == 0.13);
}

NodeSpec read(const std::string& text) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "n.yaml");
  const ridgeline::core::Reader in(node);
  NodeSpec spec = read_node_spec(in);
  in.finish();
  return spec;
}

TEST_CASE("A node is read, and what it leaves out is free", "[hw][interconnect]") {
  const NodeSpec node = read(
      "topology: switch\ngpus: 8\nrate: 450 GB/s\n"
      "libraries: {nccl: {algorithms: [two_shot, in_switch], fixed: 20 us}, free: {}}\n");
  CHECK((node.topology == Topology::node_switch && node.gpus == 8));
  CHECK(node.collectives("nccl").algorithms.size() == 2);
  CHECK(node.collectives("nccl").fixed.value() == Approx(20e-6));
  CollectiveLibrary expected;
  expected.name = "free";
  CHECK(node.collectives("free") == expected);
  CHECK_THROWS_WITH(node.collectives("rccl"),
                    "the machine has no communication library 'rccl'; it has nccl, free");
}

TEST_CASE("What a node cannot be is refused where it stands", "[hw][interconnect]") {
  const auto error = [](const std::string& text) {
    return error_of([&] { static_cast<void>(read(text)); });
  };
  CHECK(error("topology: switch\ngpus: 8\nrate: 0.1 MB/s\n").find("n.yaml:3:7: rate") == 0);
  CHECK(error("topology: ring\ngpus: 8\nrate: 1 GB/s\n").find("n.yaml:1:11: topology") == 0);
  CHECK(error("topology: switch\ngpus: 8\nrate: 1 GB/s\nlibraries: {a: {algorithms: [tree]}}\n")
            .find("expected one_shot, two_shot or in_switch, got 'tree'") != std::string::npos);
  CHECK(error("topology: switch\ngpus: 8\nrate: 1 GB/s\nlibraries: {a: {fixd: 1 us}}\n")
            .find("unknown key") != std::string::npos);
}

}  // namespace
