#include "sim/scheduler.hpp"

#include "core/error.hpp"
#include "sim/schedulers/vllm_v1.hpp"

namespace ridgeline::sim {
namespace {

struct Policy {
  const char* name;
  std::unique_ptr<Scheduler> (*make)(const EngineSpec&);
};

// A new policy is one file in schedulers/ and one line here.
constexpr Policy kPolicies[] = {
    {"vllm_v1", make_vllm_v1},
};

}  // namespace

std::unique_ptr<Scheduler> make_scheduler(const EngineSpec& engine) {
  for (const Policy& policy : kPolicies) {
    if (engine.scheduler == policy.name) return policy.make(engine);
  }
  throw core::InvariantError("no scheduler named " + engine.scheduler);
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const Policy& policy : kPolicies) names.emplace_back(policy.name);
  return names;
}

}  // namespace ridgeline::sim
