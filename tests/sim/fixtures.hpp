#pragma once
// What the sim tests share: a machine and a model so small that their bytes can be added up by
// hand, and requests from a list.

#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/config_library.hpp"
#include "core/document.hpp"
#include "sim/run.hpp"
#include "sim/scenario.hpp"
#include "tests/core/fixtures.hpp"

namespace ridgeline::tests {

// Bytes of the tiny model, two to an element (head_dim = 64 / 4 = 16, q_dim = 64, kv_dim = 2 x 16 =
// 32):
//   linear layers   2 x (64 (64 + 2 x 32) + 64 x 64 + 3 x 64 x 128) = 73,728 elements
//   norms           (2 x 2 + 1) x 64 = 320
//   embeddings      2 x 256 x 64 = 32,768                              together 106,816 elements,
//   213,632 B KV of a token   2 x 2 layers x 2 (K and V) x 32 = 256 B            a block of 4:
//   1,024 B activations     2 x (2 x 64 + 3 x 128) = 1,024 B a token, 4 x 256 = 1,024 B a
//   sequence's logits
inline constexpr double kTinyWeights = 213'632.0;
inline constexpr double kTinyBlock = 1'024.0;

inline constexpr const char* kTiny = R"(name: tiny
hw:
  name: plain
  compute_units: 16
  peak: {fp16: 100 GFLOP/s}
  hbm: {capacity: 1 MB, bandwidth: 1 GB/s}
  cache: {capacity: 1 kB, bandwidth: 10 GB/s}
  gemm: {tiles: [16x16, 32x32], tile_load: 0, extra_k: 0, max_splits: 2, split_cost: 1 us}
model: {name: small, layers: 2, hidden: 64, heads: 4, kv_heads: 2, ffn: 128, vocab: 256, max_position: 64, activations: fp16}
stack:
  name: plain
  launch: {issue: 5 us, doorbell: 10 us, dispatch: 1 us, queue_depth: 64, floor: 2 us, graph_submit: 1 us, graph_node: 10 ns, graph_dispatch: 0 us, graph_floor: 2 us}
  host: {step: 50 us, per_sequence: 3 us}
engine: {max_num_seqs: 8, max_num_batched_tokens: 64, block_size: 4}
workload: {requests: 10, arrivals: {constant: {rate: 100 /s}}, prompt_tokens: 10, output_tokens: 5}
seed: 1
)";

inline sim::Scenario tiny(const std::vector<sim::Override>& overrides = {}) {
  return sim::read_scenario(core::parse_yaml(kTiny, "tiny.yaml"), overrides, shipped());
}

/// A shipped scenario, by name.
inline sim::Scenario scenario(const std::string& name,
                              const std::vector<sim::Override>& overrides = {}) {
  return sim::load_scenario(name, overrides, shipped());
}

/// What the error of type `Error` that `action` throws says; "" when it throws none.
template <class Error, class Action>
std::string text_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Requests as listed. With `echoes`, every answer brings a further request of the same size, so
/// many in all.
class ListedRequests : public workloads::RequestSource {
 public:
  ListedRequests(std::initializer_list<std::int64_t> arrivals_ns, std::int64_t echoes = -1)
      : echoes_(echoes) {
    for (const std::int64_t ns : arrivals_ns) arrivals_.push_back({ns});
  }
  [[nodiscard]] std::optional<core::Instant> next_arrival() const override {
    return arrivals_.empty() ? std::nullopt : std::optional(arrivals_.front());
  }
  workloads::Request take() override {
    const workloads::Request request{next_id_++, arrivals_.front(), 4, 1};
    arrivals_.pop_front();
    return request;
  }
  void on_finished(core::Instant when) override {
    if (echoes_ <= 0) return;
    --echoes_;
    arrivals_.push_back(when);
  }
  [[nodiscard]] bool reacts() const override { return echoes_ >= 0; }

 private:
  std::deque<core::Instant> arrivals_;
  std::int64_t echoes_;
  std::uint64_t next_id_ = 0;
};

}  // namespace ridgeline::tests
