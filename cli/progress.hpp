#pragma once
// Progress of long work on stderr, and Ctrl-C. The line appears only on a terminal, and only once
// the work has lasted a while. Until the first report there is nothing to keep (a trace is read,
// arrivals are drawn), and Ctrl-C ends the program as ever.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "core/instant.hpp"

namespace ridgeline::cli {

class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows where things stand, at most ten times a second. False once Ctrl-C was pressed: finish
  /// what you have.
  bool report(std::size_t answered, std::size_t in_all, core::Instant now);
  /// The same for other work; `line` says where it stands.
  bool report(const std::function<std::string(double elapsed_seconds)>& line);

 private:
  void clear();

  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
  bool shown_;
  bool on_screen_ = false;
  bool listening_ = false;  // to Ctrl-C
};

/// Whether Ctrl-C was pressed since the first report. The first press asks for an end; one more,
/// not just after it, ends at once.
[[nodiscard]] bool interrupted();

}  // namespace ridgeline::cli
