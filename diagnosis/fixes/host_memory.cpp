// Weights and KV blocks that travel between host and device.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

bool weights_on_host(const Situation& s) { return best_or(s.work.host_bytes, 0.0) > 0.0; }

/// All weights beside those that are there already.
bool would_fit(const Situation& s) {
  const Maybe room =
      s.evidence.machine.hbm_capacity * Maybe(s.evidence.machine.devices.value_or(Value(1.0)));
  return room && best_or(s.work.weight_bytes, 0.0) + s.work.host_bytes->best < 0.9 * room->best;
}

double transfer_share(const Situation& s) { return s.budget.share(Cause::transfer).best; }

}  // namespace

extern const Fix kWeightsOnDevice;
const Fix kWeightsOnDevice{
    .name = "weights_on_device",
    .title = "Keep all layers on the device",
    .family = "placement",
    .effort = 0,
    .acts_on = Cause::transfer,
    .leaves = {0.0, 0.3},
    .popularity = 0.5,
    .applies = weights_on_host,
    .assess = [](const Situation& s) -> Assessment {
      if (!would_fit(s))
        return {{1.0},
                fmt::format("{} of weights are on the host because the device has no room "
                            "for them",
                            bytes_text(s.work.host_bytes->best))};
      Rewrite ledger(s.budget);
      const Maybe after = s.work.host_bytes / s.work.bandwidth;
      ledger.scale(LineId::transfer, {0.0, 0.1}).scale(LineId::not_separated, {0.1, 0.6});
      if (after) ledger.add({after->best, 3.0 * after->best});
      return {ledger.gain(),
              fmt::format("{} of weights fit the device, where a token reads them in {}",
                          bytes_text(s.work.host_bytes->best),
                          after ? time_text(after->best) : std::string("far less"))};
    }};

extern const Fix kComputeWhereWeightsAre;
const Fix kComputeWhereWeightsAre{
    .name = "compute_where_weights_are",
    .title = "Multiply small batches where their weights are, on the host",
    .family = "placement",
    .effort = 0,
    .acts_on = Cause::transfer,
    .leaves = {0.05, 0.7},
    .popularity = 0.2,
    .applies = [](const Situation& s) { return weights_on_host(s) && !would_fit(s); },
    .assess = [](const Situation& s) -> Assessment {
      // The host reads its memory several times faster than the link carries it; activations are
      // small.
      Rewrite ledger(s.budget);
      ledger.scale(LineId::transfer, {0.1, 0.5});
      return {ledger.gain(),
              fmt::format("copying {} of weights to the device for a few tokens takes longer than "
                          "multiplying them in place; batch sizes above a threshold may still "
                          "travel",
                          bytes_text(s.work.host_bytes->best))};
    }};

extern const Fix kLargerTransfers;
const Fix kLargerTransfers{
    .name = "larger_transfers",
    .title = "Copy in larger contiguous blocks",
    .family = "transfers",
    .effort = 1,
    .acts_on = Cause::transfer,
    .leaves = {0.05, 0.7},
    .popularity = 0.2,
    .applies =
        [](const Situation& s) {
          return s.evidence.profile.transfer_bytes.has_value() || transfer_share(s) > 0.05;
        },
    .assess = [](const Situation& s) -> Assessment {
      // A copy costs some 10 us besides its bytes: below a megabyte the link is mostly idle.
      constexpr double kEachCopy = 10e-6;
      const Maybe& block = s.evidence.profile.transfer_bytes;
      const double link = best_or(s.evidence.machine.host_bandwidth, 50e9);
      Rewrite ledger(s.budget);
      if (!block) {
        ledger.scale(LineId::transfer, {0.5, 1.0});
        return {ledger.gain(), "how large each copy is was not said"};
      }
      const double wire = block->best / link;
      const double left = (wire + 0.01 * kEachCopy) / (wire + kEachCopy);
      ledger.scale(LineId::transfer, {left, std::min(1.0, 2.0 * left)});
      return {ledger.gain(),
              fmt::format("a copy of {} takes {} on the wire and about {} to start",
                          bytes_text(block->best), time_text(wire), time_text(kEachCopy))};
    }};

extern const Fix kPinnedTransfers;
const Fix kPinnedTransfers{
    .name = "pinned_transfers",
    .title = "Pin host memory, or copy less",
    .family = "transfers",
    .effort = 0,
    .acts_on = Cause::transfer,
    .leaves = {0.3, 0.9},
    .popularity = 0.4,
    .applies =
        [](const Situation& s) {
          return s.evidence.profile.copy_call_time || s.evidence.profile.transfer_time ||
                 transfer_share(s) > 0.0;
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      ledger.scale(LineId::transfer, {0.4, 0.8});
      const Maybe& waits = s.evidence.profile.copy_call_time;
      const Maybe& copies = s.evidence.profile.transfer_time;
      return {ledger.gain(),
              waits && copies
                  ? fmt::format("the copies themselves take {}; the {} in the call is the host "
                                "waiting for kernels",
                                time_text(copies->best), time_text(waits->best))
                  : fmt::format("transfers are {} of the time", percent_text(transfer_share(s)))};
    }};

}  // namespace ridgeline::diagnosis
