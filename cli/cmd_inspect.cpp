#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "diagnosis/trace_report.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string trace;
  std::size_t top = 15;
  bool json = false;
};

double seconds(core::Nanoseconds t) { return t.seconds().value(); }

void print_use(const timeline::Inspection& i) {
  Table table({"where the steps' time went", "", ""});
  if (i.devices.empty()) return;
  const timeline::DeviceUse& use = i.devices.front();
  const double whole = std::max(1e-9, seconds(use.time));
  const auto row = [&](const std::string& name, core::Nanoseconds t) {
    if (t.count > 0)
      table.add({name, duration(seconds(t)), fmt::format("{:.1f} %", 100.0 * seconds(t) / whole)});
  };
  row("computing", use.computation);
  row("communication that nothing hides", use.exposed_communication);
  row("copies that nothing hides", use.exposed_copies);
  constexpr std::array<const char*, timeline::kGapCauses> kIdle{
      "idle: the host had not launched the next kernel", "idle: the host had waited for the device",
      "idle: turning to the next kernel", "idle: something outside the recording",
      "idle: the launch is not recorded"};
  for (std::size_t c = 0; c < timeline::kGapCauses; ++c) row(kIdle[c], i.gaps[c].total);
  fmt::print("{}\n", table.text({1, 2}));
}

/// Kernel names may be a thousand characters long; their beginning says what they are.
std::string shortened(std::string_view name) {
  constexpr std::size_t kShown = 60;
  return name.size() <= kShown ? std::string(name)
                               : std::string(name.substr(0, kShown - 3)) + "...";
}

void print(const diagnosis::TraceStudy& study, std::size_t top) {
  const timeline::Inspection& i = study.inspection;
  const std::string device = study.timeline.device().name;
  fmt::print("{}: {}, {}\n", study.recording.file, study.recording.format,
             device.empty() ? "device not named" : device);
  fmt::print("{}\n", study.steps.text);
  for (const std::string& sentence : study.recording.missing) fmt::print("missing: {}\n", sentence);
  for (const timeline::Gate& gate : study.gates) {
    if (!gate.passed)
      fmt::print("{}: {}\n", gate.decisive ? "NOT TO BE BELIEVED" : "careful", gate.sentence);
  }
  fmt::print("\n");
  print_use(i);

  double busy = 1e-9;
  for (const timeline::ClassRow& row : i.classes) busy += seconds(row.durations.total);
  Table classes({"class", "kernels", "time", "share", "median"});
  for (const timeline::ClassRow& row : i.classes) {
    classes.add({std::string(timeline::name_of(row.cls)), fmt::format("{}", row.durations.count),
                 duration(seconds(row.durations.total)),
                 fmt::format("{:.1f} %", 100.0 * seconds(row.durations.total) / busy),
                 duration(seconds(row.durations.median))});
  }
  fmt::print("{}\n", classes.text({1, 2, 3, 4}));

  Table names({"kernel", "class", "kernels", "time", "share", "median"});
  for (std::size_t k = 0; k < std::min(top, i.names.size()); ++k) {
    const timeline::NameRow& row = i.names[k];
    names.add({shortened(study.recording.name(row.name)), std::string(timeline::name_of(row.cls)),
               fmt::format("{}", row.durations.count), duration(seconds(row.durations.total)),
               fmt::format("{:.1f} %", 100.0 * seconds(row.durations.total) / busy),
               duration(seconds(row.durations.median))});
  }
  fmt::print("{}\n", names.text({2, 3, 4, 5}));
  if (i.floor.kernels > 0) {
    fmt::print("  {} of {} kernels are about as short as a kernel can be (at most {}): {} in all\n",
               i.floor.count, i.floor.kernels, duration(seconds(i.floor.limit)),
               duration(seconds(i.floor.time)));
  }
  if (i.backlog.kernels > 0) {
    fmt::print(
        "  between launch and start: median {}, p90 {}; {:.0f} % of kernels found others queued "
        "before them\n",
        duration(seconds(i.backlog.median_wait)), duration(seconds(i.backlog.p90_wait)),
        100.0 * i.backlog.share_behind);
  }
  for (const timeline::BlockedCopy& copy : i.blocked_copies) {
    fmt::print("  {} held the host for {}, its copy took {}: a wait, not a transfer\n",
               study.recording.name(study.recording.calls[copy.call].name),
               duration(seconds(copy.on_host)), duration(seconds(copy.on_device)));
  }
}

}  // namespace

Action declare_inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "trace", options->trace,
         "a profiler's file, compressed or not; a directory of rocprofv3 CSV; '-' for stdin")
      ->required()
      ->type_name("TRACE");
  app.add_option("--top", options->top, "how many kernels to list");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nReads PyTorch (Kineto) JSON of ROCm and CUDA, rocprofv3 CSV and JSON, rocprof v1 and v2 "
      "CSV, rocpd and RPD databases, and\n"
      "rocprofiler-compute's pmc_perf.csv.\n"
      "  ridgeline inspect trace.json.gz --top 30");
  return [options] {
    const diagnosis::TraceStudy study(options->trace);
    if (options->json) {
      fmt::print("{}\n", diagnosis::json_text(diagnosis::to_json(study, options->top)));
    } else {
      print(study, options->top);
    }
    return static_cast<int>(kDone);
  };
}

}  // namespace ridgeline::cli
