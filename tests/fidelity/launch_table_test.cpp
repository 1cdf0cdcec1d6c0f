#include "fidelity/launch_table.hpp"

#include <catch2/catch.hpp>

#include "fidelity/operation.hpp"
#include "hw/launch_queue.hpp"
#include "tests/fidelity/fixtures.hpp"
#include "workloads/stack_spec.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::is_launch_table;
using fidelity::kStream;
using fidelity::launch_figures;
using fidelity::launch_overlay;
using fidelity::LaunchFigure;
using fidelity::Machines;
using fidelity::parse_table;
using fidelity::Row;
using fidelity::Table;

constexpr const char* kTable =
    "hw,what,value,unit,note,source\n"
    "X,\"issue, torch operator\",9.5,us,,\n"
    "X,\"shortest kernel, queued\",2.25,us,,\n"
    "X,\"shortest kernel, in a graph\",,us,failed: out of memory,\n"
    "X,\"kernel to kernel, queued, bare kernel\",4,us,,\n"
    "X,\"graph of 1 kernels, submit\",3.02,us,,\n"
    "X,\"graph of 16 kernels, submit\",3.32,us,,\n"
    "X,\"graph of 1024 kernels, submit\",23.48,us,,\n";

double figure(const std::vector<LaunchFigure>& figures, std::string_view key) {
  for (const LaunchFigure& f : figures) {
    if (f.key == key) return f.seconds;
  }
  return -1.0;
}

TEST_CASE("Launches are read off their rows, graphs off a straight line", "[launch_table]") {
  const Table table = parse_table(kTable, "launch.csv");
  REQUIRE(is_launch_table(table));
  const auto figures = launch_figures(table);
  CHECK(figures.size() == 4);  // a failed row and one that includes another say nothing
  CHECK(figure(figures, "issue") == Approx(9.5e-6));
  CHECK(figure(figures, "floor") == Approx(2.25e-6));
  // 3 us and 20 ns a node: 3.02, 3.32, 23.48 us.
  CHECK(figure(figures, "graph_submit") == Approx(3e-6));
  CHECK(figure(figures, "graph_node") == Approx(20e-9));
}

TEST_CASE("What was measured of launching makes a stack", "[launch_table]") {
  const auto figures = launch_figures(parse_table(kTable, "launch.csv"));
  const core::Node node = shipped().resolve("stacks", launch_overlay(figures, "vllm_v1"), "stack");
  const core::Reader in(node, "stack");
  const workloads::StackSpec stack = workloads::read_stack_spec(in);
  in.finish();
  CHECK(stack.launch.issue == core::Nanoseconds{9500});
  CHECK(stack.launch.graph_submit == core::Nanoseconds{3000});
  CHECK(stack.launch.doorbell == core::Nanoseconds{10'000});  // not measured: the base's
}

TEST_CASE("A stream's time is its bytes over its rate, and the machine's ramp and bandwidth",
          "[stream]") {
  const Table table = parse_table(
      "hw,level,test,value,unit\n"
      "MI300X,HBM,\"mul, 429300000 B\",4,TB/s\n"
      "MI300X,HBM,BabelStream Copy,4.11,TB/s\n"
      "MI300X,host link,\"h2d, 4096 B\",20,GB/s\n",
      "bandwidth.csv");
  Machines machines(shipped(), std::nullopt);
  CHECK(*kStream.measured(Row(table, 0)) == Approx(429.3e6 / 4e12));
  // 7 us and 429.3 MB / (0.81 x 5.3 TB/s) = 100 us
  CHECK(kStream.predict(Row(table, 0), machines).seconds == Approx(107e-6));
  CHECK(kStream.constants(Row(table, 0), machines.named("mi300x")) == "hbm");
  CHECK_FALSE(kStream.measured(Row(table, 1)));
  CHECK_FALSE(kStream.measured(Row(table, 2)));
}

}  // namespace
}  // namespace ridgeline::tests
