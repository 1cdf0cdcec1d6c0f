#include "sim/energy.hpp"

namespace ridgeline::sim {

std::optional<double> energy_joules(const RunResult& result) {
  const auto& power = result.scenario.gpu.power;
  if (!power || result.steps.empty()) return std::nullopt;
  const hw::Ledger ledger = result.ledger();
  const double compute = ledger[hw::Cause::compute].seconds().value();
  const double busy = ledger.busy().seconds().value();
  const double whole = (result.end() - result.steps.front().start).seconds().value();
  const double each = compute * power->compute_watts + (busy - compute) * power->memory_watts +
                      (whole - busy) * power->idle_watts;
  // The stages of a pipeline take turns: one works, the others idle.
  const workloads::Parallelism& p = result.scenario.engine.parallelism;
  return each * static_cast<double>(p.tensor) +
         whole * power->idle_watts * static_cast<double>(p.gpus() - p.tensor);
}

}  // namespace ridgeline::sim
