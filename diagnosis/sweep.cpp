#include "diagnosis/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/usual.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

using enum Cause;

/// What a fit of a few measured points leaves open, either way.
constexpr double kFitDoubt = 0.15;

struct SweepPoint {
  double x = 0.0;
  double time = 0.0;   // seconds, or of any unit where only rates are known
  double floor = 0.0;  // the longer of its two roofs
};

/// The time of a unit, or something in proportion to it.
double time_of(const Evidence& e, const Work& w) {
  if (w.time) return w.time->best;
  const Measured& m = e.measured;
  for (const Maybe& rate : {m.throughput, m.total_throughput, m.requests_per_second}) {
    if (rate) return 1.0 / rate->best;
  }
  return 0.0;
}

std::vector<SweepPoint> points_over(const Evidence& e, const Maybe& (*x)(const Evidence&)) {
  std::vector<SweepPoint> out;
  for (const Evidence& point : e.sweep) {
    const Maybe& at = x(point);
    const Work w = work_of(point);
    const double time = time_of(point, w);
    if (!at || !(time > 0.0)) return {};
    const double bytes = best_or(w.bytes / w.bandwidth, 0.0);
    out.push_back({at->best, time, std::max(bytes, best_or(w.flop / w.peak, 0.0))});
  }
  const bool varies =
      std::any_of(out.begin(), out.end(), [&](const SweepPoint& p) { return p.x != out[0].x; });
  return varies ? out : std::vector<SweepPoint>{};
}

/// t = a + b/N: what N devices share, and what each of them does or waits for whatever N is.
void over_devices(const Evidence& e, std::vector<Clue>& out) {
  const auto points =
      points_over(e, [](const Evidence& p) -> const Maybe& { return p.machine.devices; });
  if (points.empty()) return;
  const SweepPoint& last = points.back();
  const SweepPoint* fewest = &last;
  const SweepPoint* fastest = &last;
  std::vector<Point2> inverse;
  for (const SweepPoint& p : points) {
    if (p.x < fewest->x) fewest = &p;
    if (p.time < fastest->time) fastest = &p;
    inverse.push_back({1.0 / p.x, p.time});
  }
  const bool in_seconds = work_of(e.sweep.back()).time.has_value();
  const auto amount = [&](double t) {
    return in_seconds ? time_text(t) : percent_text(t / last.time);
  };
  if (fastest->x < last.x && last.time > 1.05 * fastest->time) {
    // More devices cannot make their parts of the work longer: what came on top is what they do for
    // each other.
    const double share = 1.0 - fastest->time / last.time;
    out.push_back(
        share_clue(communication, {share * (1.0 - kFitDoubt), 1.0}, share,
                   fmt::format("{} devices take {:.2f}x the time of {}: at least {} is what "
                               "devices do for, or wait for, each other",
                               whole_text(last.x), last.time / fastest->time,
                               whole_text(fastest->x), percent_text(share))));
    return;
  }
  const Line2 fit = fit_line(inverse);
  const double share = std::clamp(fit.intercept / last.time, 0.0, 1.0);
  if (share < 0.05) return;
  if (in_seconds && fewest->x < 1.5 && fewest->floor > 0.0) {
    // One device launches and schedules as much: what its own kernels leave of its time bounds
    // both.
    const double room = std::max(fewest->time - fewest->floor / kUsuallyOfRoof, 0.0) / last.time;
    Clue alone =
        share_clue({launch, host}, {0.0, std::max(room, 0.05)}, room,
                   fmt::format("One device takes {}, and {} of it at a roof: launches and the "
                               "host have at most {} there",
                               amount(fewest->time), percent_text(fewest->floor / fewest->time),
                               amount(room * last.time)));
    out.push_back(std::move(alone));
  }
  const Maybe& layers = e.model.layers;
  std::string each;
  if (in_seconds && layers)
    each = fmt::format(", {} for each of {} all-reduces",
                       time_text(fit.intercept / (2.0 * layers->best)),
                       whole_text(2.0 * layers->best));
  out.push_back(share_clue(
      {communication, launch, host}, {share * (1.0 - kFitDoubt), share * (1.0 + kFitDoubt)}, share,
      fmt::format("The time fits a + b/N over {} to {} devices: {} does not shrink "
                  "with N{}, {} of the time at {}",
                  whole_text(fewest->x), whole_text(last.x), amount(fit.intercept), each,
                  percent_text(share), whole_text(last.x))));
}

/// What a step takes beyond its roof, over the number of sequences: paid once, or by each.
void over_sequences(const Evidence& e, std::vector<Clue>& out) {
  const auto points =
      points_over(e, [](const Evidence& p) -> const Maybe& { return p.serving.concurrency; });
  if (points.empty() || !work_of(e.sweep.back()).time) return;
  std::vector<Point2> excess;
  const SweepPoint* fewest = &points.front();
  for (const SweepPoint& p : points) {
    excess.push_back({p.x, std::max(p.time - p.floor, 0.0)});
    if (p.x < fewest->x) fewest = &p;
  }
  const SweepPoint& last = points.back();
  Line2 fit = fit_line(excess);
  fit.intercept = std::clamp(fit.intercept, 0.0, last.time);
  const double share = fit.intercept / last.time;
  const double growth = last.time / fewest->time;
  out.push_back(
      share_clue({launch, host, communication},
                 {share * (1.0 - 2.0 * kFitDoubt), share + kFitDoubt * (1.0 - share)}, share,
                 fmt::format("From {} to {} sequences a step grows {:.2f}x; beyond its bytes "
                             "and arithmetic {} are paid once a step, {} of it",
                             whole_text(fewest->x), whole_text(last.x), growth,
                             time_text(fit.intercept), percent_text(share))));
  const double grown = std::clamp(fit.slope * last.x / last.time, 0.0, 1.0);
  if (grown > 0.1) {
    out.push_back(
        share_clue({kernels, host}, {grown * (1.0 - 2.0 * kFitDoubt), 1.0}, grown,
                   fmt::format("{} of the step at {} sequences grows with them without being "
                               "bytes or arithmetic at a roof",
                               percent_text(grown), whole_text(last.x))));
  }
}

/// Time per token of context against the bytes that such a token has.
void over_context(const Evidence& e, const Work& w, std::vector<Clue>& out) {
  const auto points =
      points_over(e, [](const Evidence& p) -> const Maybe& { return p.serving.context_tokens; });
  if (points.empty() || !w.time || !w.kv_per_token || !w.bandwidth) return;
  std::vector<Point2> line;
  for (const SweepPoint& p : points) line.push_back({p.x, p.time});
  const Line2 fit = fit_line(line);
  const SweepPoint& last = points.back();
  if (!(fit.slope > 0.0)) return;
  const double bytes = w.kv_per_token->best * best_or(w.sequences, 1.0);
  const double rate = bytes / fit.slope;
  const double of_peak = rate / w.bandwidth->best;
  const double share = std::clamp(fit.slope * last.x / last.time, 0.0, 1.0);
  const std::string fact =
      fmt::format("A token of context costs {} and is {}: {}/s, {} of peak", time_text(fit.slope),
                  bytes_text(bytes), bytes_text(rate), percent_text(of_peak));
  if (of_peak >= 0.5) {
    const double read = share * std::min(of_peak, 1.0);
    out.push_back(share_clue(bandwidth, {read * (1.0 - kFitDoubt), 1.0}, read,
                             fact + ": reading the KV cache is bound by bandwidth"));
  } else {
    const double lost = share * (1.0 - of_peak);
    out.push_back(share_clue(kernels, {lost * (1.0 - kFitDoubt), 1.0}, lost,
                             fact + ": attention is far from its bytes"));
  }
}

/// Offered against finished.
void over_rate(const Evidence& e, std::vector<Clue>& out) {
  const Evidence& last = e.sweep.back();
  const Maybe& offered = last.serving.request_rate;
  const Maybe& finished = last.measured.requests_per_second;
  if (!offered || !finished) return;
  const double kept = finished->best / offered->best;
  Clue c = share_clue({}, {0.0, 1.0}, std::min(kept, 1.0),
                      kept > 0.95
                          ? fmt::format("All of the {} requests/s that are offered are served",
                                        number_text(offered->best))
                          : fmt::format("{} of {} requests/s are served: the server is saturated",
                                        number_text(finished->best), number_text(offered->best)));
  out.push_back(std::move(c));
}

}  // namespace

Line2 fit_line(const std::vector<Point2>& points) {
  double w = 0.0;
  double wx = 0.0;
  double wy = 0.0;
  double wxx = 0.0;
  double wxy = 0.0;
  for (const Point2& p : points) {
    const double weight = 1.0 / std::max(p.y * p.y, 1e-300);
    w += weight;
    wx += weight * p.x;
    wy += weight * p.y;
    wxx += weight * p.x * p.x;
    wxy += weight * p.x * p.y;
  }
  const double det = w * wxx - wx * wx;
  if (!(std::abs(det) > 1e-12 * w * wxx)) return {w > 0.0 ? wy / w : 0.0, 0.0};
  return {(wy * wxx - wx * wxy) / det, (w * wxy - wx * wy) / det};
}

std::vector<Clue> clues_of_sweep(const Evidence& e, const Work& w) {
  std::vector<Clue> out;
  if (e.sweep.size() < 2) return out;
  over_devices(e, out);
  over_sequences(e, out);
  over_context(e, w, out);
  over_rate(e, out);
  return out;
}

}  // namespace ridgeline::diagnosis
