#include "sim/simulation.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "core/error.hpp"
#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using core::Instant;
using sim::Signal;
using sim::Simulation;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// What two actors wrote, one at each of its instants.
std::string order_of(const std::vector<Instant>& a, const std::vector<Instant>& b) {
  Simulation simulation;
  std::string log;
  const auto writer = [&](char letter, const std::vector<Instant>& instants) {
    return [&log, &simulation, letter, instants] {
      for (const Instant t : instants) {
        simulation.sleep_until(t);
        log += letter;
      }
    };
  };
  simulation.spawn("a", writer('a', a));
  simulation.spawn("b", writer('b', b));
  simulation.run();
  return log;
}

}  // namespace

TEST_CASE("Actors act in the order of the instants they sleep until", "[sim][simulation]") {
  CHECK(order_of({{1 * kSecond}, {4 * kSecond}}, {{2 * kSecond}, {3 * kSecond}}) == "abba");
  CHECK(order_of({{3 * kSecond}}, {{1 * kSecond}, {2 * kSecond}}) == "bba");
}

TEST_CASE("A nanosecond makes a difference, an hour into the run too", "[sim][simulation]") {
  const std::int64_t hour = 3600 * kSecond;
  CHECK(order_of({{hour + 1}}, {{hour}}) == "ba");
  CHECK(order_of({{hour}}, {{hour + 1}}) == "ab");
}

TEST_CASE("Sleeping until an instant that is past returns at once", "[sim][simulation]") {
  CHECK(order_of({{5 * kSecond}, {1 * kSecond}, {5 * kSecond}}, {{5 * kSecond + 1}}) == "aaab");
}

TEST_CASE("Two simulations in one process each begin at zero", "[sim][simulation]") {
  for (int i = 0; i < 3; ++i)
    CHECK(order_of({{2 * kSecond}}, {{1 * kSecond}, {3 * kSecond}}) == "bab");
}

TEST_CASE("A simulation without actors ends at once", "[sim][simulation]") {
  Simulation simulation;
  simulation.run();
  SUCCEED();
}

TEST_CASE("A second simulation beside a live one is refused", "[sim][simulation]") {
  {
    Simulation first;
    CHECK_THROWS_AS(Simulation(), core::InvariantError);
    first.run();
  }
  CHECK(order_of({{1}}, {{2}}) == "ab");
}

TEST_CASE("What an actor throws comes out of run, whatever it is", "[sim][simulation]") {
  const auto run_one_that_throws = [](const auto& error) {
    Simulation simulation;
    Signal never(simulation);
    simulation.spawn("waits", [&never] { never.wait([] { return false; }); });
    simulation.spawn("sleeps", [&simulation] { simulation.sleep_until({10 * kSecond}); });
    simulation.spawn("throws", [&simulation, &error] {
      simulation.sleep_until({kSecond});
      throw error;
    });
    simulation.run();
  };
  CHECK(tests::text_of<core::SimulationError>(
            [&] { run_one_that_throws(core::SimulationError("no room")); }) == "no room");
  CHECK(tests::text_of<core::ConfigError>(
            [&] { run_one_that_throws(core::ConfigError("not a number")); }) == "not a number");
  CHECK(tests::text_of<core::InvariantError>(
            [&] { run_one_that_throws(core::InvariantError("our bug")); }) == "our bug");
  CHECK(order_of({{1}}, {{2}}) == "ab");  // and the process is none the worse for it
}

TEST_CASE("The first of two exceptions is the one that is told", "[sim][simulation]") {
  Simulation simulation;
  for (const std::int64_t when : {2, 1}) {
    simulation.spawn("throws", [&simulation, when] {
      simulation.sleep_until({when * kSecond});
      throw core::SimulationError(when == 1 ? "first" : "second");
    });
  }
  CHECK(tests::text_of<core::SimulationError>([&] { simulation.run(); }) == "first");
}

TEST_CASE("Actors that all wait for each other are a deadlock, and it is told",
          "[sim][simulation]") {
  const auto deadlock = [] {
    Simulation simulation;
    Signal signal(simulation);
    simulation.spawn("a", [&signal] { signal.wait([] { return false; }); });
    simulation.spawn("b", [&] {
      simulation.sleep_until({kSecond});
      signal.notify();  // "look again", and there is nothing to see
      signal.wait([] { return false; });
    });
    simulation.run();
  };
  CHECK(tests::text_of<core::SimulationError>(deadlock) ==
        "the simulation is deadlocked: every actor waits for another");
  CHECK(order_of({{1}}, {{2}}) == "ab");
}

TEST_CASE("A signal wakes everybody, and each looks whether it is for him", "[sim][simulation]") {
  Simulation simulation;
  Signal signal(simulation);
  std::string log;
  int count = 0;
  for (const int wanted : {2, 1}) {
    simulation.spawn("waits", [&signal, &log, &count, wanted] {
      signal.wait([&count, wanted] { return count >= wanted; });
      log += std::to_string(wanted);
    });
  }
  simulation.spawn("counts", [&] {
    for (int i = 1; i <= 2; ++i) {
      simulation.sleep_until({i * kSecond});
      count = i;
      log += '.';
      signal.notify();
    }
  });
  simulation.run();
  CHECK(log == ".1.2");
}

TEST_CASE("Waiting for what is already so does not wait", "[sim][simulation]") {
  Simulation simulation;
  Signal signal(simulation);
  bool went_on = false;
  simulation.spawn("a", [&] {
    signal.wait([] { return true; });
    went_on = true;
  });
  simulation.run();
  CHECK(went_on);
}

TEST_CASE("A signal that nobody waits for is forgotten", "[sim][simulation]") {
  Simulation simulation;
  Signal signal(simulation);
  simulation.spawn("a", [&] { signal.notify(); });
  simulation.run();
  SUCCEED();
}
