#pragma once
// Clients that each wait for an answer, think, and ask again. All ask first at 0. Clients are
// alike, so nobody needs to know whose request was answered: lengths belong to the request's
// number, in order of arrival.

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "workloads/arrivals.hpp"
#include "workloads/lengths.hpp"
#include "workloads/request.hpp"

namespace ridgeline::workloads {

class ClosedLoopSource : public RequestSource {
 public:
  /// Ends after `requests` requests.
  ClosedLoopSource(const ClosedLoop& loop, std::int64_t requests, Lengths prompts, Lengths outputs);

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override;
  Request take() override;
  void on_finished(core::Instant when) override;
  [[nodiscard]] bool reacts() const override { return true; }

 private:
  core::Nanoseconds think_time_;
  std::int64_t left_;  // requests not yet announced
  Lengths prompts_;
  Lengths outputs_;
  std::priority_queue<core::Instant, std::vector<core::Instant>, std::greater<>> announced_;
  std::uint64_t next_id_ = 0;
};

}  // namespace ridgeline::workloads
