#include "cli/line_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ridgeline::cli {

LineInput::Got LineInput::next(std::optional<Clock::time_point> until) {
  for (;;) {
    if (const auto end = ahead_.find('\n'); end != std::string::npos) {
      Got got{End::line, ahead_.substr(0, end)};
      ahead_.erase(0, end + 1);
      return got;
    }
    if (until) {
      using std::chrono::milliseconds;
      const auto left = std::chrono::ceil<milliseconds>(*until - Clock::now());
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int wait = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
      const int ready = ::poll(&input, 1, wait);
      if (ready == 0 && Clock::now() >= *until) return {End::time_is_up, ""};
      if (ready <= 0) continue;  // a signal, or a wait longer than one poll
    }
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (ahead_.empty()) return {End::no_more, ""};
      Got got{End::line, ahead_};  // the last line, without its end
      ahead_.clear();
      return got;
    }
    ahead_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace ridgeline::cli
