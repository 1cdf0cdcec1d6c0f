#pragma once
// A line that an engine writes every few seconds. Of the whole run only its steady part is of use:
// the beginning fills the batch, so the medians are of the later half, without the lines of an idle
// server. A median is one of the values there, so it keeps the digits it was printed with.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "diagnosis/pasted/format.hpp"

namespace ridgeline::diagnosis::pasted {

/// Nothing in this place of the line.
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

template <std::size_t N>
class Series {
 public:
  using Values = std::array<double, N>;

  /// `lane` names the engine of several whose line this is; only the first one's count, because
  /// each has its own requests and its own share of the throughput.
  void add(const Line& line, const Values& values, bool idle, std::string_view lane = {}) {
    if (count_ == 0) lane_ = lane;
    if (lane != lane_) {
      ++foreign_;
      return;
    }
    if (++count_ == 1 || !idle) last_line_ = line.number;
    if (idle) {
      ++idle_;
      return;
    }
    if (samples_.empty()) first_line_ = line.number;
    samples_.push_back({values, line.raw, line.number});
  }

  /// Calls `take(i, line)` with the line that holds the median of value i, for every i that some
  /// line of the later half has. Says what was done under `name` if there was a choice.
  template <typename Take>
  void finish(std::string_view name, Findings& out, const Take& take) const {
    if (foreign_ > 0) {
      out.facts.note(
          fmt::format("{}: lines of several engines; those of '{}' are taken", name, lane_));
    }
    if (samples_.empty()) {
      if (idle_ > 0)
        out.facts.note(fmt::format("{}: {} status lines, all of an idle server", name, idle_));
      return;
    }
    const std::size_t from = samples_.size() / 2;
    if (samples_.size() > 1) {
      out.facts.note(
          fmt::format("{}: {} status lines (lines {} to {}){}; medians of the later half", name,
                      samples_.size(), first_line_, last_line_,
                      idle_ > 0 ? fmt::format(", {} of an idle server left out", idle_) : ""));
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < N; ++i) {
      order.clear();
      for (std::size_t s = from; s < samples_.size(); ++s) {
        if (samples_[s].values[i] == samples_[s].values[i]) order.push_back(s);  // not absent
      }
      if (order.empty()) continue;
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
      std::nth_element(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
        return samples_[a].values[i] != samples_[b].values[i]
                   ? samples_[a].values[i] < samples_[b].values[i]
                   : a < b;
      });
      std::string buffer;
      Line line;
      line.raw = samples_[*middle].raw;
      line.text = cleaned(line.raw, buffer);
      line.body = without_log_prefix(line.text);
      line.number = samples_[*middle].number;
      take(i, line);
    }
  }

 private:
  struct Sample {
    Values values;
    std::string_view raw;
    int number;
  };
  std::vector<Sample> samples_;
  std::string lane_;
  std::size_t count_ = 0;
  std::size_t idle_ = 0;
  std::size_t foreign_ = 0;
  int first_line_ = 0;
  int last_line_ = 0;
};

}  // namespace ridgeline::diagnosis::pasted
