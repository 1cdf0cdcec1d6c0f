#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>

namespace ridgeline::cli {
namespace {

volatile std::sig_atomic_t pressed = 0;
timespec first_press{};

/// A second press ends the program at once, unless it is one finger that trembled (or one key press
/// that reached us twice, from the terminal and from the parent).
extern "C" void on_interrupt(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (pressed == 0) {
    first_press = now;
    pressed = 1;
    return;
  }
  constexpr double kTremble = 0.3;  // seconds
  const double since = static_cast<double>(now.tv_sec - first_press.tv_sec) +
                       1e-9 * static_cast<double>(now.tv_nsec - first_press.tv_nsec);
  if (since < kTremble) return;
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));
}

}  // namespace

bool interrupted() { return pressed != 0; }

Progress::Progress(bool wanted)
    : begin_(std::chrono::steady_clock::now()),
      last_(begin_),
      shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

bool Progress::report(std::size_t answered, std::size_t in_all, core::Instant now) {
  return report([&](double elapsed) {
    const double simulated = now.since_start().value();
    const std::string of = in_all > 0 ? fmt::format(" of {}", in_all) : "";
    return fmt::format("{}{} requests answered, {:.0f} s simulated, {:.0f} times real time",
                       answered, of, simulated, simulated / elapsed);
  });
}

bool Progress::report(const std::function<std::string(double)>& line) {
  if (!listening_) std::signal(SIGINT, on_interrupt);
  listening_ = true;
  using namespace std::chrono_literals;
  const auto time = std::chrono::steady_clock::now();
  if (shown_ && time - begin_ > 500ms && time - last_ > 100ms) {
    last_ = time;
    on_screen_ = true;
    fmt::print(stderr, "\r\033[K{}", line(std::chrono::duration<double>(time - begin_).count()));
    std::fflush(stderr);
  }
  return !interrupted();
}

void Progress::clear() {
  if (on_screen_) fmt::print(stderr, "\r\033[K");
}

}  // namespace ridgeline::cli
