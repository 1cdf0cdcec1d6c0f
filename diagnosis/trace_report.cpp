#include "diagnosis/trace_report.hpp"

#include <algorithm>

#include "diagnosis/report.hpp"

namespace ridgeline::diagnosis {
namespace {

nlohmann::ordered_json gates_json(const std::vector<timeline::Gate>& gates) {
  auto out = nlohmann::ordered_json::array();
  for (const timeline::Gate& gate : gates) {
    out.push_back({{"name", gate.name},
                   {"passed", gate.passed},
                   {"decisive", gate.decisive},
                   {"value", gate.value},
                   {"limit", gate.limit},
                   {"sentence", gate.sentence}});
  }
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const TraceStudy& study, std::size_t top) {
  const timeline::Inspection& i = study.inspection;
  nlohmann::ordered_json out;
  out["file"] = study.recording.file;
  out["format"] = study.recording.format;
  out["device"] = study.timeline.device().name;
  std::int64_t kernels = 0;
  for (const timeline::DeviceEvent& e : study.recording.device_events)
    kernels += e.kind == timeline::DeviceEvent::Kind::kernel ? 1 : 0;
  out["kernel_count"] = kernels;
  out["device_span_ns"] = i.recorded.count;
  out["device_busy_ns"] = i.recorded_busy.count;
  out["steps"] = {{"count", study.steps.steps.size()}, {"found", study.steps.text}};
  out["devices"] = nlohmann::ordered_json::array();
  for (const timeline::DeviceUse& use : i.devices) {
    out["devices"].push_back({{"device", use.device},
                              {"steps_ns", use.time.count},
                              {"busy_ns", use.busy.count},
                              {"computation_ns", use.computation.count},
                              {"exposed_communication_ns", use.exposed_communication.count},
                              {"exposed_copies_ns", use.exposed_copies.count},
                              {"idle_ns", use.idle.count}});
  }
  out["kernels_by_class"] = nlohmann::ordered_json::array();
  for (const timeline::ClassRow& row : i.classes) {
    out["kernels_by_class"].push_back({{"class", timeline::name_of(row.cls)},
                                       {"count", row.durations.count},
                                       {"total_ns", row.durations.total.count},
                                       {"median_ns", row.durations.median.count}});
  }
  out["top_kernels"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < std::min(top, i.names.size()); ++k) {
    const timeline::NameRow& row = i.names[k];
    out["top_kernels"].push_back({{"name", study.recording.name(row.name)},
                                  {"class", timeline::name_of(row.cls)},
                                  {"family", row.family},
                                  {"count", row.durations.count},
                                  {"total_ns", row.durations.total.count},
                                  {"median_ns", row.durations.median.count}});
  }
  out["floor_kernels"] = {{"limit_ns", i.floor.limit.count},
                          {"count", i.floor.count},
                          {"kernels", i.floor.kernels},
                          {"total_ns", i.floor.time.count}};
  out["backlog"] = {{"kernels", i.backlog.kernels},
                    {"median_wait_ns", i.backlog.median_wait.count},
                    {"p90_wait_ns", i.backlog.p90_wait.count},
                    {"mean_ahead", i.backlog.mean_ahead},
                    {"share_behind", i.backlog.share_behind}};
  for (std::size_t c = 0; c < timeline::kGapCauses; ++c) {
    out["gaps"][std::string(timeline::kGapCauseNames[c])] = {
        {"count", i.gaps[c].count},
        {"total_ns", i.gaps[c].total.count},
        {"longest_ns", i.gaps[c].longest.count}};
  }
  out["blocked_copies"] = nlohmann::ordered_json::array();
  for (const timeline::BlockedCopy& copy : i.blocked_copies) {
    out["blocked_copies"].push_back(
        {{"call", study.recording.name(study.recording.calls[copy.call].name)},
         {"on_host_ns", copy.on_host.count},
         {"on_device_ns", copy.on_device.count},
         {"bytes", copy.bytes}});
  }
  out["gates"] = gates_json(study.gates);
  out["missing"] = study.recording.missing;
  return out;
}

nlohmann::ordered_json to_json(const TraceDiagnosis& answer) {
  nlohmann::ordered_json out;
  if (answer.diagnosis) {
    out = to_json(*answer.diagnosis);
  } else {
    out["regime"] = nullptr;
    out["cannot_tell"] = answer.cannot_tell;
  }
  out["gates"] = gates_json(answer.gates);
  out["notes"] = answer.notes;
  return out;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ridgeline::diagnosis
