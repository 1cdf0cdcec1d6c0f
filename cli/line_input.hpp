#pragma once
// Lines that somebody types, against a clock.

#include <chrono>
#include <optional>
#include <string>

namespace ridgeline::cli {

class LineInput {
 public:
  enum class End : std::uint8_t { line, no_more, time_is_up };
  struct Got {
    End end = End::no_more;
    std::string text;
  };
  using Clock = std::chrono::steady_clock;

  /// The next line of standard input; no later than `until`, if given.
  [[nodiscard]] Got next(std::optional<Clock::time_point> until);

 private:
  std::string ahead_;  // read, and not asked for yet
};

}  // namespace ridgeline::cli
