#include "diagnosis/diagnose_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/attribute.hpp"
#include "diagnosis/model_facts.hpp"
#include "diagnosis/observe.hpp"
#include "diagnosis/words.hpp"
#include "timeline/readable_name.hpp"

namespace ridgeline::diagnosis {
namespace {

using timeline::GapCause;

/// Share of the time, or of the bytes, below which a kind of kernel is not worth a sentence.
constexpr double kWorthASentence = 0.02;

std::string short_time(core::Nanoseconds t) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return t.count < kMillisecond ? fmt::format("{:.3g} us", static_cast<double>(t.count) * 1e-3)
                                : fmt::format("{:.3g} ms", static_cast<double>(t.count) * 1e-6);
}

/// What each kind of kernel reached, most time first.
void add_rates(const timeline::Summary& s, const TraceContext& context, std::vector<Finding>& out) {
  std::vector<std::pair<std::string, timeline::KernelRow>> rows(s.by_role.begin(), s.by_role.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  for (const auto& [role, row] : rows) {
    const double seconds = row.time.seconds().value();
    if (seconds < kWorthASentence * s.busy.seconds().value() ||
        (row.hbm.value() < kWorthASentence * s.total.hbm.value() && row.issued.value() <= 0.0))
      continue;
    const double tbps = row.hbm.value() / seconds * 1e-12;
    const double tflops = row.issued.value() / seconds * 1e-12;
    std::string of_peak;
    if (context.gpu) {
      of_peak = fmt::format(" ({:.0f} % of HBM peak",
                            100.0 * tbps * 1e12 / context.gpu->hbm.bandwidth.value());
      const double peak = context.model ? context.gpu->peak[context.model->math].value() : 0.0;
      of_peak += peak > 0.0 && tflops > 0.0
                     ? fmt::format(", {:.0f} % of matrix peak)", 100.0 * tflops * 1e12 / peak)
                     : ")";
    }
    const core::Nanoseconds mean{row.time.count / std::max<std::int64_t>(1, row.count)};
    out.push_back(
        {fmt::format("{}: {} kernel{} of {} move{} {:.4g} MB each at {:.2f} TB/s{}",
                     timeline::readable_name(role), row.count, row.count == 1 ? "" : "s",
                     short_time(mean), row.count == 1 ? "s" : "",
                     row.hbm.value() / static_cast<double>(row.count) * 1e-6, tbps, of_peak),
         tbps * 1e12, "bytes/s", Origin::derived});
  }
}

void add_floor(const timeline::Inspection& i, std::vector<Finding>& out) {
  if (i.floor.kernels == 0 || i.devices.empty() || i.floor.count == 0) return;
  const double share =
      i.floor.time.seconds() / std::max(core::Seconds{1e-9}, i.devices.front().busy.seconds());
  if (share < kWorthASentence) return;
  out.push_back(
      {fmt::format("{} of {} kernels last no longer than {}, about as short as a kernel can be: {} "
                   "of {} busy, {:.0f} %, is the "
                   "cost of dispatching them",
                   i.floor.count, i.floor.kernels, short_time(i.floor.limit),
                   short_time(i.floor.time), short_time(i.devices.front().busy), 100.0 * share),
       share, "fraction", Origin::read});
}

void add_gaps(const timeline::Inspection& i, std::vector<Finding>& out) {
  constexpr std::array<std::string_view, timeline::kGapCauses> kMeaning{
      "the host had not launched the next kernel yet", "the host had waited for the device",
      "the device turned to the next kernel", "something outside the recording ran",
      "the next kernel's launch is not recorded"};
  if (i.devices.empty() || i.devices.front().time.count == 0) return;
  for (std::size_t c = 0; c < timeline::kGapCauses; ++c) {
    const double share = i.gaps[c].total.seconds() / i.devices.front().time.seconds();
    if (share < kWorthASentence) continue;
    out.push_back(
        {fmt::format("The device was idle {} ({:.0f} % of the steps) in {} gaps because {}",
                     short_time(i.gaps[c].total), 100.0 * share, i.gaps[c].count, kMeaning[c]),
         share, "fraction", Origin::read});
  }
}

/// The longest copy that was a wait, if it matters.
const timeline::BlockedCopy* worst_wait(const timeline::Inspection& i) {
  if (i.blocked_copies.empty()) return nullptr;
  const timeline::BlockedCopy& worst = i.blocked_copies.front();
  constexpr double kMatters = 0.05;
  return worst.on_host.seconds().value() > kMatters * i.recorded.seconds().value() ? &worst
                                                                                   : nullptr;
}

void add_wait(const TraceStudy& study, Diagnosis& d) {
  const timeline::BlockedCopy* wait = worst_wait(study.inspection);
  if (wait == nullptr) return;
  const std::string call(study.recording.name(study.recording.calls[wait->call].name));
  const std::string size = wait->bytes >= 0 ? fmt::format(" of {} bytes", wait->bytes) : "";
  d.settling_evidence.push_back(
      {fmt::format("{}{} holds the host for {}, its copy takes {}: it waits for earlier work on "
                   "the device, it does not transfer",
                   call, size, short_time(wait->on_host), short_time(wait->on_device)),
       wait->on_host.seconds().value(), "seconds", Origin::read});
  d.rejects.push_back(
      {"overlap_copies", "Pin memory or overlap the copies",
       core::Interval{
           1.0, 1.0 + wait->on_device.seconds() /
                          std::max(core::Seconds{1e-9}, study.inspection.recorded_busy.seconds())},
       fmt::format("the copy itself is {} of the {} that its call lasts: the rest is waiting for "
                   "earlier work",
                   short_time(wait->on_device), short_time(wait->on_host))});
}

/// Pure decode steps where they took most of the time, else all steps: the part that says most
/// about a server.
timeline::StepFilter telling_steps(const timeline::Steps& steps) {
  const auto decodes = [](const timeline::StepSpan& step) {
    return step.decode_sequences > 0 && step.prefill_tokens == 0;
  };
  core::Nanoseconds all{};
  core::Nanoseconds decode{};
  for (const timeline::StepSpan& step : steps.steps) {
    all += step.duration;
    if (decodes(step)) decode += step.duration;
  }
  return 2 * decode.count >= all.count && decode.count > 0 ? timeline::StepFilter(decodes)
                                                           : timeline::StepFilter();
}

std::string cannot_tell_because(const std::vector<timeline::Gate>& gates) {
  std::string out;
  for (const timeline::Gate& gate : gates) {
    if (!gate.passed && gate.decisive) out += (out.empty() ? "" : "; ") + gate.sentence;
  }
  return out;
}

}  // namespace

timeline::Summary summarize_trace(const TraceStudy& study, const TraceContext& context,
                                  std::string* why_not) {
  const timeline::StepFilter filter = telling_steps(study.steps);
  if (!context.model || !context.gpu) return timeline::summarize(study.timeline, {}, filter);
  const AttributedTimeline attributed(study.timeline, *context.model, context.model->activations,
                                      *context.gpu);
  if (why_not != nullptr) *why_not = attributed.outcome().why_not;
  const hw::GpuSpec& gpu = *context.gpu;
  const hw::Dtype math = context.model->activations;
  return timeline::summarize(
      attributed, {}, filter,
      {gpu.hbm.bandwidth * gpu.hbm.sustained, gpu.peak[math] * gpu.sustained[math]});
}

TraceDiagnosis diagnose_trace(const TraceStudy& study, const TraceContext& context) {
  TraceDiagnosis out;
  out.gates = study.gates;
  out.notes = study.recording.missing;
  if (!timeline::believable(study.gates)) {
    out.cannot_tell = cannot_tell_because(study.gates);
    return out;
  }
  std::string why_not;
  Observation o;
  o.title = study.recording.file;
  o.summary = summarize_trace(study, context, &why_not);
  if (o.summary.steps == 0 || o.summary.time.count == 0) {
    out.cannot_tell = "no step with a kernel in it was found";
    return out;
  }
  if (!context.gpu)
    out.notes.push_back(
        "the trace does not name a known GPU; with --hw its rates can be held against peaks");
  if (!context.model) {
    out.notes.push_back(
        "no model was named; with --model bytes and FLOP of its kernels follow from its "
        "dimensions");
  } else if (!why_not.empty()) {
    out.notes.push_back("the kernels could not be matched with the model: " + why_not);
  }
  if (context.gpu) o.gpu = *context.gpu;
  if (context.model) o.model = model_facts(*context.model, context.model->activations);
  if (study.recording.world_size > 1) o.devices = static_cast<double>(study.recording.world_size);
  Evidence evidence = observe(o);
  if (!context.gpu) evidence.machine = Machine{};

  Diagnosis d = diagnose(evidence);
  add_rates(o.summary, context, d.settling_evidence);
  add_floor(study.inspection, d.settling_evidence);
  add_gaps(study.inspection, d.settling_evidence);
  add_wait(study, d);
  out.diagnosis = std::move(d);
  out.evidence = std::move(evidence);
  return out;
}

}  // namespace ridgeline::diagnosis
