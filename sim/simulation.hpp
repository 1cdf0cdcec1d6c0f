#pragma once
// SimGrid, as far as this project uses it, behind three verbs: spawn an actor, sleep until an
// instant, wait for a signal.
//
// Traps of SimGrid 3.32 that are dealt with here: one engine a process at a time, whose clock goes
// on after it is deleted (instants count from this simulation's start); sleeping to absolute
// instants, so that no error accumulates; an exception that leaves an actor aborts the process
// (kept and rethrown by `run`); a deadlock ends the run as if all were well (found out by `run`);
// an engine installs signal handlers (taken out again).

#include <functional>
#include <memory>
#include <string>

#include "core/instant.hpp"

namespace ridgeline::sim {

class Simulation;

/// Wakes actors that wait for it. An actor must re-check what it waits for: a signal says "look
/// again".
class Signal {
 public:
  explicit Signal(Simulation& simulation);
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void notify();
  /// Blocks the calling actor until `condition` holds, checked now and at every notification.
  void wait(const std::function<bool()>& condition);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Simulation {
 public:
  Simulation();
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Adds an actor; it starts when `run` is called.
  void spawn(const std::string& name, std::function<void()> body);
  /// Runs until every actor has ended. Rethrows what an actor threw; SimulationError when all that
  /// are left wait for each other.
  void run();

  /// From inside an actor: lets every other actor act up to `instant`. Returns at once if it is not
  /// in the future.
  void sleep_until(core::Instant instant) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ridgeline::sim
