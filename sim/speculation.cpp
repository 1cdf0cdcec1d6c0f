#include "sim/speculation.hpp"

#include <cmath>
#include <string>

namespace ridgeline::sim {
namespace {

constexpr std::int64_t kMostDrafts = 64;
constexpr unsigned kPlaceBits = 24;  // an answer has at most 10 million tokens

}  // namespace

double SpeculativeConfig::tokens_per_step() const {
  const double k = static_cast<double>(num_speculative_tokens);
  return acceptance < 1.0 ? (1.0 - std::pow(acceptance, k + 1.0)) / (1.0 - acceptance) : k + 1.0;
}

SpeculativeConfig read_speculative_config(const core::Reader& in,
                                          const workloads::ModelSpec& model) {
  SpeculativeConfig out;
  out.num_speculative_tokens = in.integer("num_speculative_tokens", 1, kMostDrafts);
  out.acceptance = in.fraction("acceptance", 0.0, 1.0);
  const core::Node* draft = in.node().find("model");
  if (draft != nullptr && draft->scalar == kNgram) {
    static_cast<void>(in.raw("model"));
    return out;
  }
  out.draft = workloads::read_model_spec(in.child("model"));
  if (out.draft->vocab != model.vocab) {
    in.reject("model", "a draft model must have the model's vocabulary of " +
                           std::to_string(model.vocab) + " tokens, " + out.draft->name + " has " +
                           std::to_string(out.draft->vocab));
  }
  return out;
}

std::int64_t Acceptance::accepted(std::uint64_t request, std::int64_t place) const {
  const std::uint64_t first = (request << kPlaceBits) + static_cast<std::uint64_t>(place);
  std::int64_t right = 0;
  while (right < drafts_ &&
         stream_.uniform(first + static_cast<std::uint64_t>(right)) < probability_)
    ++right;
  return right;
}

}  // namespace ridgeline::sim
