#include "diagnosis/timers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using enum Cause;

/// Host memory as a CPU streams it: two channels of DDR4 to twelve of DDR5 give 40 to 400 GB/s;
/// what one process reaches of it on machines that people name is 20 to 100.
constexpr core::Interval kHostMemory{20e9, 100e9};
/// Two clocks within this of each other show one thing.
constexpr double kSameClock = 0.9;
/// A kernel below this share of its roof is slow by itself, as in regime.cpp.
constexpr double kFarFromRoof = 0.4;

/// A time of one step as a share of it.
void of_step(const Maybe& time, const Work& w, Cause cause, std::string_view what,
             std::vector<Clue>& out) {
  if (!time || !w.time) return;
  const Value share = (*time / *w.time).clamped(0.0, 1.0);
  out.push_back(share_clue(cause, share.interval, share.best,
                           fmt::format("{} take {} of {}: {}", what, time_text(time->best),
                                       time_text(w.time->best), percent_text(share.best))));
}

}  // namespace

std::vector<Clue> clues_of_timers(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  const Profile& p = e.profile;
  of_step(p.communication_time, w, communication, "Collectives", out);
  if (!p.communication_time && p.communication_fraction) {
    out.push_back(share_clue(
        communication, p.communication_fraction->interval, p.communication_fraction->best,
        fmt::format("Collectives take {} of a step", percent_text(p.communication_fraction->best)),
        Origin::given));
  }
  of_step(p.transfer_time, w, transfer, "Copies between host and device", out);
  if (p.copy_call_time && p.transfer_time && p.copy_call_time->best > 3.0 * p.transfer_time->best) {
    // The call returns when the work queued before it is done: its length says nothing of the copy.
    Clue waiting = share_clue(
        {}, {0.0, 1.0}, 0.0,
        fmt::format("The host spends {} in calls that copy, and the copies take "
                    "{}: the calls wait for kernels",
                    time_text(p.copy_call_time->best), time_text(p.transfer_time->best)));
    waiting.value = *p.transfer_time / *p.copy_call_time;
    out.push_back(std::move(waiting));
  }
  if (p.host_issue_time && p.device_span) {
    const Value ratio = *p.host_issue_time / *p.device_span;
    if (ratio.best >= kSameClock) {
      Clue paced = share_clue(
          {launch, host}, {0.4, 1.0}, 0.7,
          fmt::format("The host issues a step's kernels for {} and the device has "
                      "them for {}: the device waits for the host",
                      time_text(p.host_issue_time->best), time_text(p.device_span->best)));
      paced.value = ratio;
      paced.unit = "ratio";
      out.push_back(std::move(paced));
    } else {
      Clue ahead = share_clue(
          {launch}, {0.0, 0.15}, 0.0,
          fmt::format("The host issues a step in {} of the {} that it runs: launches "
                      "are far ahead",
                      time_text(p.host_issue_time->best), time_text(p.device_span->best)));
      ahead.value = ratio;
      ahead.unit = "ratio";
      out.push_back(std::move(ahead));
    }
  }
  if (const Maybe n = either(e.serving.concurrency, e.serving.requests);
      n && n->best <= 64.0 && e.measured.ttft && e.measured.itl && w.window == Window::prefill) {
    // A decode step reads the whole model; a prompt computes as long as one such read for every
    // hundred of its tokens at most (ridge points lie at 150 to 600, and kernels below their peak).
    const double prompt = best_or(e.serving.prompt_tokens, 8192.0);
    const double own = n->best * e.measured.itl->best * (2.0 + prompt / 100.0);
    const double share = 1.0 - own / e.measured.ttft->best;
    if (share > 0.3) {
      out.push_back(share_clue(
          host, {0.6 * share, 1.0}, share,
          fmt::format("The first token takes {} decode steps; {} prompts of {} tokens need at most "
                      "{}: the rest is neither their prefill nor a queue for it",
                      whole_text(e.measured.ttft->best / e.measured.itl->best), whole_text(n->best),
                      whole_text(prompt), whole_text(own / e.measured.itl->best))));
    }
  }
  if (p.kernels_per_step && w.time && !p.kernel_length && !p.gap_length && !p.busy_time &&
      w.window != Window::prefill) {
    // Not even an empty kernel takes less than this, with what follows it.
    constexpr core::Interval kEach{1.2e-6, 8e-6};
    const core::Interval share =
        p.kernels_per_step->interval * kEach / core::Interval(w.time->best);
    if (share.high > 0.3) {
      out.push_back(
          share_clue(launch, {std::min(share.low, 0.95), 1.0}, std::min(1.5 * share.low, 0.95),
                     fmt::format("{} kernels a step are {} each: about what a launch takes, "
                                 "whatever the kernel does",
                                 number_text(p.kernels_per_step->best),
                                 time_text(w.time->best / p.kernels_per_step->best))));
    }
  }
  if (p.clock_fraction && p.clock_fraction->best < 0.95) {
    Clue capped =
        share_clue({compute}, {0.0, 1.0}, p.clock_fraction->best,
                   fmt::format("The clock stays at {} of its rating under this load: the rate "
                               "follows power, not the kernel",
                               percent_text(p.clock_fraction->best)),
                   Origin::given);
    capped.suspicion = 4.0;
    capped.measured = false;  // a clock is no share of the time
    out.push_back(std::move(capped));
  }
  return out;
}

std::vector<Clue> clues_of_kernels(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  const Maybe peak = e.machine.peak.empty() ? std::nullopt : w.peak;
  const double devices = best_or(e.machine.devices, 1.0);
  double listed = 0.0;
  for (const KernelRow& row : e.kernels) listed += best_or(row.time, 0.0);
  const double total = e.profile.busy_time               ? e.profile.busy_time->best
                       : w.time && listed < w.time->best ? w.time->best
                                                         : listed;
  // Where the machine is not known, its best kernel shows what it can do.
  double best_rate = 0.0;
  for (const KernelRow& row : e.kernels) {
    if (row.bytes && row.time && row.group != KernelGroup::collective)
      best_rate = std::max(best_rate, row.bytes->best / row.time->best);
  }
  const double roof = best_or(e.machine.hbm_bandwidth, best_rate);
  for (const KernelRow& row : e.kernels) {
    // Collectives and copies are a cause of their own: what the table gives them is what they take.
    const bool collective = row.group == KernelGroup::collective;
    if (collective || row.group == KernelGroup::copy) {
      const Maybe share = either(row.time / w.time, row.share);
      if (share && e.profile.kernel_time.empty()) {
        const Value taken = share->clamped(0.0, 1.0);
        out.push_back(
            share_clue(collective ? communication : transfer, taken.interval, taken.best,
                       fmt::format("{} takes {} of the time",
                                   row.name.empty() ? std::string(name_of(row.group)) : row.name,
                                   percent_text(taken.best))));
      }
      continue;
    }
    const double share = row.share     ? row.share->best
                         : total > 0.0 ? best_or(row.time, 0.0) / total
                                       : 0.0;
    double reached = -1.0;
    std::string how;
    if (row.bytes && row.time && roof > 0.0) {
      const double rate = row.bytes->best / row.time->best;
      reached = rate / roof;
      how = fmt::format("moves {} in {}, {}/s: {} of {}", bytes_text(row.bytes->best),
                        time_text(row.time->best), bytes_text(rate), percent_text(reached),
                        e.machine.hbm_bandwidth ? "peak bandwidth" : "what its neighbour reaches");
    }
    if (row.flop && row.time && peak) {
      const double of_peak = row.flop->best / row.time->best / (peak->best / devices);
      if (of_peak > reached) {
        reached = of_peak;
        how = fmt::format("does {} in {}: {} of peak", flop_text(row.flop->best),
                          time_text(row.time->best), percent_text(of_peak));
      }
    }
    if (row.occupied && (reached < 0.0 || row.occupied->best < reached)) {
      reached = row.occupied->best;
      how = fmt::format("fills {} of the compute units", percent_text(reached));
    }
    if (reached < 0.0 || share <= 0.0) continue;
    const double lost = share * std::max(0.0, 1.0 - reached);
    if (reached < kFarFromRoof) {
      out.push_back(
          share_clue(kernels, {0.8 * lost, 1.0}, lost,
                     fmt::format("{} takes {} of the time and {}",
                                 row.name.empty() ? std::string(name_of(row.group)) : row.name,
                                 percent_text(share), how)));
    } else {
      Clue near = share_clue(
          {}, {0.0, 1.0}, reached,
          fmt::format("{} {}", row.name.empty() ? std::string(name_of(row.group)) : row.name, how));
      out.push_back(std::move(near));
    }
  }
  if (e.profile.occupied && e.profile.occupied->best < kFarFromRoof) {
    const auto attention = e.profile.kernel_time.find(KernelGroup::attention);
    const double share = attention != e.profile.kernel_time.end() ? attention->second.best : 0.5;
    const double lost = share * (1.0 - e.profile.occupied->best);
    out.push_back(share_clue(kernels, {0.8 * lost, 1.0}, lost,
                             fmt::format("The longest kernel fills {} of the compute units",
                                         percent_text(e.profile.occupied->best))));
  }
  return out;
}

std::vector<Clue> clues_of_memory(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  if (w.host_bytes && w.time && w.host_bytes->best > 0.0) {
    // Either the link carries them or the host multiplies them in place.
    const core::Interval rate = e.machine.host_bandwidth
                                    ? core::hull(e.machine.host_bandwidth->interval, kHostMemory)
                                    : kHostMemory;
    const core::Interval share = w.host_bytes->interval / rate / w.time->interval;
    const double implied = w.host_bytes->best / w.time->best;
    const double best = std::clamp(w.host_bytes->best / rate.middle() / w.time->best, 0.0, 1.0);
    // A rate that host memory or the link gives is a rate that they set.
    const bool fits = implied < 1.5 * rate.high && implied > 0.2 * rate.low;
    out.push_back(share_clue(
        transfer, {fits ? std::min(0.6, share.high) : share.low, 1.0},
        fits ? std::max(best, 0.7) : best,
        fmt::format("{} of weights are in the host's memory: read in {}, that is "
                    "{}/s{}",
                    bytes_text(w.host_bytes->best), time_text(w.time->best), bytes_text(implied),
                    fits                  ? ", a rate of host memory or its link, not of HBM"
                    : implied > rate.high ? ", faster than host memory: not all are read"
                                          : ": their read is a part of the time")));
  }
  if (e.profile.transfer_rate && e.machine.host_bandwidth) {
    const Value of_link = *e.profile.transfer_rate / *e.machine.host_bandwidth;
    Clue c = share_clue(
        {transfer}, {0.0, 1.0}, std::min(of_link.best, 1.0),
        fmt::format("Copies{} run at {}/s, {} of the link",
                    e.profile.transfer_bytes ? " of " + bytes_text(e.profile.transfer_bytes->best)
                                             : std::string(),
                    bytes_text(e.profile.transfer_rate->best), percent_text(of_link.best)));
    c.unit = "ratio";  // of the link, not of the time
    c.suspicion = 4.0;
    // Nothing but the copies was measured: they are what is asked about.
    if (!w.time && !e.measured.throughput) c.share = {0.5, 1.0};
    out.push_back(std::move(c));
  }
  if (w.kv_demand && w.kv_demand->low() > 1.05) {
    Clue c =
        share_clue({capacity}, {0.0, 1.0}, 0.5,
                   fmt::format("The sequences that are to run together need {:.1f}x the KV memory "
                               "there is",
                               w.kv_demand->best));
    c.value = *w.kv_demand;
    c.unit = "ratio";
    c.suspicion = 6.0;
    c.measured = false;
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace ridgeline::diagnosis
