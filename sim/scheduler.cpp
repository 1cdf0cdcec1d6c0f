#include "sim/scheduler.hpp"

#include "core/error.hpp"
#include "sim/schedulers/vllm_v0.hpp"
#include "sim/schedulers/vllm_v1.hpp"

namespace ridgeline::sim {
namespace {

struct Policy {
  const char* name;
  std::unique_ptr<Scheduler> (*make)(const EngineSpec&);
  PolicyDefaults defaults;
};

// A new policy is one file in schedulers/ and one line here.
constexpr Policy kPolicies[] = {
    // vLLM 0.26 on a GPU of 70 GiB and more.
    {"vllm_v1", make_vllm_v1, {}},
    // vLLM 0.4 to 0.8 on ROCm (config.py, engine/arg_utils.py): prompts are whole whatever their
    // length, since chunking is not turned on by itself there (vLLM PR 11146). Captured sizes of
    // 0.4; later ones go on to max_num_seqs, which is the same by default.
    {"vllm_v0",
     make_vllm_v0,
     {.max_num_seqs = 256,
      .max_num_batched_tokens = 2048,
      .largest_graph = 256,
      .chunked_prefill = false,
      .watermark = 0.01,
      .prefix_caching = false,
      .decodes_apart = true}},
};

const Policy& policy_of(std::string_view name) {
  for (const Policy& policy : kPolicies) {
    if (name == policy.name) return policy;
  }
  throw core::InvariantError("no scheduler named " + std::string(name));
}

}  // namespace

std::unique_ptr<Scheduler> make_scheduler(const EngineSpec& engine) {
  return policy_of(engine.scheduler).make(engine);
}

const PolicyDefaults& defaults_of(std::string_view scheduler) {
  return policy_of(scheduler).defaults;
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const Policy& policy : kPolicies) names.emplace_back(policy.name);
  return names;
}

}  // namespace ridgeline::sim
