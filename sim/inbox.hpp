#pragma once
// Where clients leave requests for a server. Deliveries due at an instant are taken over by whoever
// looks first, the clients' actor or the server's, so what the server sees at `now` is always:
// every request with arrival <= now, in order.

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/simulation.hpp"
#include "workloads/request.hpp"

namespace ridgeline::sim {

class Inbox {
 public:
  Inbox(Simulation& simulation, workloads::RequestSource& source);

  /// The clients' life; runs as an actor: wakes the server at every arrival it sleeps through.
  void run_clients();

  // For the server.
  /// Every request that has come by `now`, oldest first; its `arrival` is when it was sent.
  [[nodiscard]] std::deque<workloads::Request>& due(core::Instant now);
  /// When the next request will come, as far as anybody knows yet.
  [[nodiscard]] core::Instant next_arrival() const {
    return source_.next_arrival().value_or(core::kNever);
  }
  /// Blocks until a request is there, and says since when; nothing when none will ever come.
  [[nodiscard]] std::optional<core::Instant> wait();
  /// A request that the server took was answered (or refused) at `when`.
  void answered(core::Instant when);
  /// Whether answers can bring new requests.
  [[nodiscard]] bool reacts() const { return source_.reacts(); }
  [[nodiscard]] std::uint64_t answered_count() const { return answered_; }
  /// From when clients sent their requests to when these came, on average.
  [[nodiscard]] core::Nanoseconds mean_way() const {
    return {taken_ > 0 ? way_.count / static_cast<std::int64_t>(taken_) : 0};
  }
  /// The server takes no more: clients go home.
  void close();

 private:
  void deliver(core::Instant now);
  [[nodiscard]] bool exhausted() const;

  Simulation& simulation_;
  workloads::RequestSource& source_;
  Signal arrived_;
  Signal reacted_;
  std::deque<workloads::Request> waiting_;
  core::Instant came_;  // when the first of those waiting came, which may be after it was sent
  std::uint64_t taken_ = 0;
  core::Nanoseconds way_;  // of all together
  std::uint64_t answered_ = 0;
  bool closed_ = false;
};

}  // namespace ridgeline::sim
