#pragma once
// vLLM V1's scheduler (vllm/v1/core/sched/scheduler.py and async_scheduler.py, version 0.19; the
// watermark is of 2026).
//
// There are no phases: every request only has computed tokens chasing known tokens. A step's token
// budget goes to running requests first, in order of admission (decodes take 1, prefills a chunk);
// one that finds no KV block preempts the last running request, which frees all its blocks and
// recomputes later, except for those whole blocks that nobody took meanwhile (its own prefix, found
// in the cache). A request that is admitted finds the whole blocks of its prompt that others have
// computed, or are about to compute in the same step. Waiting requests are admitted with what
// budget is left, only if nothing was preempted, and a request that does not fit stops the line.
// Asynchronously, a step is planned while the one before runs: a request may then have a token in
// flight, and one whose last is in flight sits the step out but keeps its place. With drafts a
// decode takes one token more for each of them, and KV slots as if those in flight were all right;
// one that turns out to have finished in flight was planned in vain. Left out: priorities, cutting
// drafts to fit a budget.

#include <memory>

#include "sim/scheduler.hpp"

namespace ridgeline::sim {

[[nodiscard]] std::unique_ptr<Scheduler> make_vllm_v1(const EngineSpec& engine);

}  // namespace ridgeline::sim
