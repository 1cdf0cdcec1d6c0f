#pragma once
// Every n-th request of a source, renumbered: what one of n equal servers gets when a router deals
// requests out in turn.

#include <memory>
#include <optional>

#include "workloads/request.hpp"

namespace ridgeline::workloads {

class DealtSource : public RequestSource {
 public:
  /// The one at `turn`, and every `turn.of`-th after it. `all` must not react to answers: clients
  /// of a closed loop are divided, not their requests.
  DealtSource(std::unique_ptr<RequestSource> all, Turn turn);

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override {
    return all_->next_arrival();
  }
  Request take() override;

 private:
  void skip(std::int64_t requests);

  std::unique_ptr<RequestSource> all_;
  std::int64_t hands_;
  std::uint64_t next_id_ = 0;
};

}  // namespace ridgeline::workloads
