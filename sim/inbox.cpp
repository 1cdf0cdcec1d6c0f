#include "sim/inbox.hpp"

namespace ridgeline::sim {

Inbox::Inbox(Simulation& simulation, workloads::RequestSource& source)
    : simulation_(simulation), source_(source), arrived_(simulation), reacted_(simulation) {}

void Inbox::run_clients() {
  while (!closed_) {
    if (const auto next = source_.next_arrival()) {
      simulation_.sleep_until(*next);
      if (closed_) break;
      deliver(*next);
      arrived_.notify();
    } else if (exhausted()) {
      break;
    } else {
      reacted_.wait([this] { return closed_ || source_.next_arrival() || exhausted(); });
    }
  }
  arrived_.notify();
}

std::deque<workloads::Request>& Inbox::due(core::Instant now) {
  deliver(now);
  return waiting_;
}

std::optional<core::Instant> Inbox::wait() {
  arrived_.wait([this] { return !waiting_.empty() || exhausted(); });
  if (waiting_.empty()) return std::nullopt;
  return came_;
}

void Inbox::answered(core::Instant when) {
  ++answered_;
  source_.on_finished(when);
  if (source_.reacts() || exhausted()) reacted_.notify();
}

void Inbox::close() {
  closed_ = true;
  reacted_.notify();
}

void Inbox::deliver(core::Instant now) {
  for (auto next = source_.next_arrival(); next && *next <= now; next = source_.next_arrival()) {
    if (waiting_.empty()) came_ = *next;
    waiting_.push_back(source_.take());
    way_ += *next - waiting_.back().arrival;
    ++taken_;
  }
}

bool Inbox::exhausted() const { return !source_.next_arrival() && answered_ == taken_; }

}  // namespace ridgeline::sim
