#pragma once
// What clients ask for, and when.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/instant.hpp"

namespace ridgeline::workloads {

/// The first `tokens` tokens of a text that other prompts may hold too.
struct PromptPiece {
  std::uint64_t text = 0;
  std::int64_t tokens = 0;
  bool operator==(const PromptPiece&) const = default;
};

struct Request {
  std::uint64_t id = 0;  // 0, 1, 2 ... in order of arrival
  core::Instant arrival;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::vector<PromptPiece> shared{};  // what the prompt begins with; the rest nobody else has

  bool operator==(const Request&) const = default;
};

/// Which of some equal servers that take turns: the `number`-th of `of`, from 0.
struct Turn {
  std::int64_t number = 0;
  std::int64_t of = 1;
};

/// Where requests come from: a trace, a random process, or clients that wait for an answer before
/// they ask again.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// When the next request comes to the server; nothing when none will, unless a request in flight
  /// finishes first (closed loop).
  [[nodiscard]] virtual std::optional<core::Instant> next_arrival() const = 0;
  /// Takes the request that `next_arrival` announced. Call only when there is one.
  virtual Request take() = 0;
  /// A request was answered in full. Closed-loop clients send their next one; others do not care.
  virtual void on_finished(core::Instant when) { static_cast<void>(when); }
  /// Whether `on_finished` can create arrivals.
  [[nodiscard]] virtual bool reacts() const { return false; }
};

}  // namespace ridgeline::workloads
