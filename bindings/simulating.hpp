#pragma once
// How long work meets Python: the interpreter runs on meanwhile, signals are heard, and there is
// one simulation at a time, because SimGrid has one engine a process. Who comes second waits its
// turn. Whatever may simulate is called through `simulating`, other long work through `unlocked`.

#include <pybind11/pybind11.h>

#include <mutex>
#include <utility>

namespace ridgeline::bindings {

/// Runs Python's signal handlers, like Ctrl-C's; throws what they raise. From any thread, with or
/// without the interpreter's lock.
void hear_signals();

/// The right to simulate. Without the interpreter's lock.
[[nodiscard]] std::unique_lock<std::timed_mutex> take_turn();

template <class Work>
auto unlocked(Work&& work) {
  const pybind11::gil_scoped_release released;
  return std::forward<Work>(work)();
}

template <class Work>
auto simulating(Work&& work) {
  return unlocked([&work] {
    const auto turn = take_turn();
    return std::forward<Work>(work)();
  });
}

}  // namespace ridgeline::bindings
