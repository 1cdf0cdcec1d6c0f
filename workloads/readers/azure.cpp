#include "workloads/readers/azure.hpp"

#include <chrono>

#include "workloads/readers/csv_trace.hpp"

namespace ridgeline::workloads {
namespace {

constexpr CsvTraceFormat kAzure{.arrival = "TIMESTAMP",
                                .prompt_tokens = "ContextTokens",
                                .output_tokens = "GeneratedTokens",
                                .clock_text = "a time like '2023-11-16 18:15:46.6805900'",
                                .clock_ns = wall_clock_ns};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a wall clock apart from the left. The first thing that is not as expected spoils it, and
/// everything after is ignored.
class ClockText {
 public:
  explicit ClockText(std::string_view text) : rest_(text) {}

  /// Exactly `width` digits, a number in [low, high].
  int number(std::size_t width, int low, int high) {
    int value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (i >= rest_.size() || !is_digit(rest_[i])) return spoil();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return value < low || value > high ? spoil() : value;
  }
  /// One of the characters in `any`; which one it was.
  char one_of(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos)
      return static_cast<char>(spoil());
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  /// ".6805900" as nanoseconds; zero when there is no point.
  std::int64_t decimals_ns() {
    if (!rest_.starts_with('.')) return 0;
    rest_.remove_prefix(1);
    std::int64_t value = 0;
    std::int64_t unit = 1'000'000'000;
    while (!rest_.empty() && is_digit(rest_.front())) {
      unit /= 10;
      if (unit == 0) return spoil();  // finer than a nanosecond would not be exact
      value += (rest_.front() - '0') * unit;
      rest_.remove_prefix(1);
    }
    return unit == 1'000'000'000 ? spoil() : value;
  }
  /// Nothing, "Z" or "+01:00", as minutes east of Greenwich.
  int offset_minutes() {
    if (rest_.empty()) return 0;
    const char sign = one_of("Z+-");
    if (sign == 'Z') return 0;
    const int hours = number(2, 0, 15);
    one_of(":");
    const int minutes = hours * 60 + number(2, 0, 59);
    return sign == '-' ? -minutes : minutes;
  }
  [[nodiscard]] bool read_whole() const { return good_ && rest_.empty(); }

 private:
  int spoil() {
    good_ = false;
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

bool recognizes_azure(std::string_view text) { return recognizes(kAzure, text); }

TraceFile read_azure(const TraceText& trace) { return read_csv_trace(kAzure, trace); }

std::optional<std::int64_t> wall_clock_ns(std::string_view text) {
  ClockText clock(text);
  const int year = clock.number(4, 1970, 2261);  // what 64 bits of nanoseconds hold
  clock.one_of("-");
  const int month = clock.number(2, 1, 12);
  clock.one_of("-");
  const int day = clock.number(2, 1, 31);
  clock.one_of(" T");
  const int hour = clock.number(2, 0, 23);
  clock.one_of(":");
  const int minute = clock.number(2, 0, 59);
  clock.one_of(":");
  const int second = clock.number(2, 0, 59);
  const std::int64_t decimals = clock.decimals_ns();
  const int offset = clock.offset_minutes();
  if (!clock.read_whole()) return std::nullopt;

  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;  // 30 February
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const std::int64_t minutes = (days * 24 + hour) * 60 + minute - offset;
  return (minutes * 60 + second) * 1'000'000'000 + decimals;
}

}  // namespace ridgeline::workloads
