#pragma once
// Whether two runs, or what they depend on, are the same bit for bit.

#include "sim/run_result.hpp"

namespace ridgeline::tests {

inline bool same(const sim::Scenario& a, const sim::Scenario& b) {
  return a.name == b.name && a.gpu == b.gpu && a.model == b.model && a.stack == b.stack &&
         a.engine == b.engine && a.workload == b.workload && a.seed == b.seed;
}

/// Everything that a run did.
inline bool same(const sim::RunResult& a, const sim::RunResult& b) {
  return a.requests == b.requests && a.steps == b.steps && a.counters == b.counters &&
         a.token_gaps == b.token_gaps && a.preemptions == b.preemptions &&
         a.interrupted == b.interrupted && a.notes == b.notes &&
         a.memory.kv_blocks == b.memory.kv_blocks;
}

}  // namespace ridgeline::tests
