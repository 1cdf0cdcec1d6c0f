#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "diagnosis/trace_study.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string trace;
  std::size_t top = 15;
  bool json = false;
};

double seconds(core::Nanoseconds t) { return t.seconds().value(); }

nlohmann::ordered_json to_json(const diagnosis::TraceStudy& study, std::size_t top) {
  const timeline::Inspection& i = study.inspection;
  nlohmann::ordered_json out;
  out["file"] = study.recording.file;
  out["format"] = study.recording.format;
  out["device"] = study.timeline.device().name;
  std::int64_t kernels = 0;
  for (const timeline::DeviceEvent& e : study.recording.device_events) kernels += e.kind == timeline::DeviceEvent::Kind::kernel ? 1 : 0;
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
  out["floor_kernels"] = {{"limit_ns", i.floor.limit.count}, {"count", i.floor.count}, {"kernels", i.floor.kernels}, {"total_ns", i.floor.time.count}};
  out["backlog"] = {{"kernels", i.backlog.kernels},
                    {"median_wait_ns", i.backlog.median_wait.count},
                    {"p90_wait_ns", i.backlog.p90_wait.count},
                    {"mean_ahead", i.backlog.mean_ahead},
                    {"share_behind", i.backlog.share_behind}};
  for (std::size_t c = 0; c < timeline::kGapCauses; ++c) {
    out["gaps"][std::string(timeline::kGapCauseNames[c])] = {
        {"count", i.gaps[c].count}, {"total_ns", i.gaps[c].total.count}, {"longest_ns", i.gaps[c].longest.count}};
  }
  out["blocked_copies"] = nlohmann::ordered_json::array();
  for (const timeline::BlockedCopy& copy : i.blocked_copies) {
    out["blocked_copies"].push_back({{"call", study.recording.name(study.recording.calls[copy.call].name)},
                                     {"on_host_ns", copy.on_host.count},
                                     {"on_device_ns", copy.on_device.count},
                                     {"bytes", copy.bytes}});
  }
  out["gates"] = nlohmann::ordered_json::array();
  for (const timeline::Gate& gate : study.gates) {
    out["gates"].push_back({{"name", gate.name},
                            {"passed", gate.passed},
                            {"value", gate.value},
                            {"limit", gate.limit},
                            {"decisive", gate.decisive},
                            {"sentence", gate.sentence}});
  }
  out["missing"] = study.recording.missing;
  return out;
}

void print_use(const timeline::Inspection& i) {
  Table table({"where the steps' time went", "", ""});
  if (i.devices.empty()) return;
  const timeline::DeviceUse& use = i.devices.front();
  const double whole = std::max(1e-9, seconds(use.time));
  const auto row = [&](const std::string& name, core::Nanoseconds t) {
    if (t.count > 0) table.add({name, duration(seconds(t)), fmt::format("{:.1f} %", 100.0 * seconds(t) / whole)});
  };
  row("computing", use.computation);
  row("communication that nothing hides", use.exposed_communication);
  row("copies that nothing hides", use.exposed_copies);
  constexpr std::array<const char*, timeline::kGapCauses> kIdle{
      "idle: the host had not launched the next kernel", "idle: the host had waited for the device", "idle: turning to the next kernel",
      "idle: something outside the recording", "idle: the launch is not recorded"};
  for (std::size_t c = 0; c < timeline::kGapCauses; ++c) row(kIdle[c], i.gaps[c].total);
  fmt::print("{}\n", table.text({1, 2}));
}

/// Kernel names may be a thousand characters long; their beginning says what they are.
std::string shortened(std::string_view name) {
  constexpr std::size_t kShown = 60;
  return name.size() <= kShown ? std::string(name) : std::string(name.substr(0, kShown - 3)) + "...";
}

void print(const diagnosis::TraceStudy& study, std::size_t top) {
  const timeline::Inspection& i = study.inspection;
  const std::string device = study.timeline.device().name;
  fmt::print("{}: {}, {}\n", study.recording.file, study.recording.format, device.empty() ? "device not named" : device);
  fmt::print("{}\n", study.steps.text);
  for (const std::string& sentence : study.recording.missing) fmt::print("missing: {}\n", sentence);
  for (const timeline::Gate& gate : study.gates) {
    if (!gate.passed) fmt::print("{}: {}\n", gate.decisive ? "NOT TO BE BELIEVED" : "careful", gate.sentence);
  }
  fmt::print("\n");
  print_use(i);

  double busy = 1e-9;
  for (const timeline::ClassRow& row : i.classes) busy += seconds(row.durations.total);
  Table classes({"class", "kernels", "time", "share", "median"});
  for (const timeline::ClassRow& row : i.classes) {
    classes.add({std::string(timeline::name_of(row.cls)), fmt::format("{}", row.durations.count), duration(seconds(row.durations.total)),
                 fmt::format("{:.1f} %", 100.0 * seconds(row.durations.total) / busy), duration(seconds(row.durations.median))});
  }
  fmt::print("{}\n", classes.text({1, 2, 3, 4}));

  Table names({"kernel", "class", "kernels", "time", "share", "median"});
  for (std::size_t k = 0; k < std::min(top, i.names.size()); ++k) {
    const timeline::NameRow& row = i.names[k];
    names.add({shortened(study.recording.name(row.name)), std::string(timeline::name_of(row.cls)), fmt::format("{}", row.durations.count),
               duration(seconds(row.durations.total)), fmt::format("{:.1f} %", 100.0 * seconds(row.durations.total) / busy),
               duration(seconds(row.durations.median))});
  }
  fmt::print("{}\n", names.text({2, 3, 4, 5}));
  if (i.floor.kernels > 0) {
    fmt::print("  {} of {} kernels are about as short as a kernel can be (at most {}): {} in all\n", i.floor.count, i.floor.kernels,
               duration(seconds(i.floor.limit)), duration(seconds(i.floor.time)));
  }
  if (i.backlog.kernels > 0) {
    fmt::print("  between launch and start: median {}, p90 {}; {:.0f} % of kernels found others queued before them\n",
               duration(seconds(i.backlog.median_wait)), duration(seconds(i.backlog.p90_wait)), 100.0 * i.backlog.share_behind);
  }
  for (const timeline::BlockedCopy& copy : i.blocked_copies) {
    fmt::print("  {} held the host for {}, its copy took {}: a wait, not a transfer\n", study.recording.name(study.recording.calls[copy.call].name),
               duration(seconds(copy.on_host)), duration(seconds(copy.on_device)));
  }
}

}  // namespace

Action declare_inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace, "a profiler's file, compressed or not; a directory of rocprofv3 CSV; '-' for stdin")
      ->required()
      ->type_name("TRACE");
  app.add_option("--top", options->top, "how many kernels to list");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nReads PyTorch (Kineto) JSON of ROCm and CUDA, rocprofv3 CSV and JSON, rocprof v1 and v2 CSV, rocpd and RPD databases, and\n"
      "rocprofiler-compute's pmc_perf.csv.\n"
      "  ridgeline inspect trace.json.gz --top 30");
  return [options] {
    const diagnosis::TraceStudy study(options->trace);
    if (options->json) {
      fmt::print("{}\n", to_json(study, options->top).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
      print(study, options->top);
    }
    return static_cast<int>(kDone);
  };
}

}  // namespace ridgeline::cli
