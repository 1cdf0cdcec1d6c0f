#include "bindings/simulating.hpp"

#include <chrono>

namespace ridgeline::bindings {

void hear_signals() {
  const pybind11::gil_scoped_acquire locked;
  if (::PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

std::unique_lock<std::timed_mutex> take_turn() {
  static std::timed_mutex turns;
  std::unique_lock<std::timed_mutex> turn(turns, std::defer_lock);
  constexpr std::chrono::milliseconds kAWhile{50};
  while (!turn.try_lock_for(kAWhile)) hear_signals();
  return turn;
}

}  // namespace ridgeline::bindings
