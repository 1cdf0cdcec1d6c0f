#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "core/quantity_text.hpp"
#include "sim/run_directory.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/summary.hpp"
#include "timeline/writers/kineto.hpp"
#include "timeline/writers/perfetto.hpp"
#include "timeline/writers/rocprofv3.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string run;
  std::string format = "kineto";
  bool fold_dispatch_gaps = false;
  std::optional<std::string> window;
  std::optional<std::string> out;
  bool json = false;
};

/// A way to write a timeline. A new one is one line in the table.
struct Format {
  const char* name;
  const char* file;  // in the run's directory, where the user names none
  void (*write)(const sim::RunTimeline&, timeline::Window, const std::string& path, const Options&);
  void (*stream)(const sim::RunTimeline&, timeline::Window, std::ostream&,
                 const Options&);  // to stdout; none for several files
};

timeline::KinetoOptions kineto_options(const Options& options) {
  timeline::KinetoOptions out;
  out.fold_dispatch_gaps = options.fold_dispatch_gaps;
  return out;
}

constexpr std::array<Format, 4> kFormats{{
    {"kineto", "timeline.json.gz",
     [](const sim::RunTimeline& t, timeline::Window w, const std::string& p, const Options& o) {
       timeline::write_kineto_file(t, w, p, kineto_options(o));
     },
     [](const sim::RunTimeline& t, timeline::Window w, std::ostream& s, const Options& o) {
       timeline::write_kineto(t, w, s, kineto_options(o));
     }},
    {"perfetto", "timeline.pftrace",
     [](const sim::RunTimeline& t, timeline::Window w, const std::string& p, const Options&) {
       timeline::write_perfetto_file(t, w, p, {});
     },
     [](const sim::RunTimeline& t, timeline::Window w, std::ostream& s, const Options&) {
       timeline::write_perfetto(t, w, s, {});
     }},
    {"rocprofv3-csv", "rocprofv3/",
     [](const sim::RunTimeline& t, timeline::Window w, const std::string& p, const Options&) {
       timeline::write_rocprofv3_csv(t, w, p, {});
     },
     nullptr},
    {"rocprofv3-json", "rocprofv3_results.json",
     [](const sim::RunTimeline& t, timeline::Window w, const std::string& p, const Options&) {
       timeline::write_rocprofv3_json(t, w, p, {});
     },
     nullptr},
}};

const Format& format_of(const Options& options) {
  const auto it = std::find_if(kFormats.begin(), kFormats.end(),
                               [&](const Format& f) { return options.format == f.name; });
  if (it == kFormats.end())
    throw core::InvariantError("no format named " + options.format);  // the option was checked
  if (options.out == "-" && it->stream == nullptr) {
    throw core::ConfigError("--out: expected a file for " + options.format +
                            ", got '-'; kineto and perfetto can go to stdout");
  }
  return *it;
}

/// "1.0s..1.2s"; either end may be missing.
timeline::Window parse_window(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto instant = [&](const std::string& part, core::Instant absent) {
    if (part.empty()) return absent;
    const auto seconds = core::parse_quantity(part, core::Dimension::time);
    if (!seconds || *seconds < 0.0 || *seconds > 1e9) {
      throw core::ConfigError("--window: expected times like '1.0s..1.2s', got '" + text + "'");
    }
    return core::Instant{core::round_to_ns(core::Seconds{*seconds}).count};
  };
  if (dots == std::string::npos)
    throw core::ConfigError("--window: expected two times like '1.0s..1.2s', got '" + text + "'");
  const timeline::Window window{instant(text.substr(0, dots), core::Instant{}),
                                instant(text.substr(dots + 2), core::kNever)};
  if (window.begin >= window.end)
    throw core::ConfigError("--window: the end must come after the beginning, got '" + text + "'");
  return window;
}

/// Where the timeline goes; never over the run it is made from.
std::string place_of(const Options& options) {
  if (!options.out) return (std::filesystem::path(options.run) / format_of(options).file).string();
  if (options.out->empty()) throw core::ConfigError("--out: expected a file, got ''");
  if (*options.out == "-" && options.json)
    throw core::ConfigError("trace: --json cannot stand beside --out -: both write to stdout");
  if (sim::is_file_of_run(*options.out, options.run)) {
    throw core::ConfigError(*options.out + ": a file of the run itself; choose another one");
  }
  return *options.out;
}

int trace(const Options& options) {
  const Format& format = format_of(options);
  const std::string out = place_of(options);
  const timeline::Window window =
      options.window ? parse_window(*options.window) : timeline::Window{};
  const sim::RunResult result =
      sim::read_run_directory(options.run, core::ConfigLibrary::standard());
  const sim::RunTimeline timeline(result);
  const timeline::Summary summary = timeline::summarize(timeline, window);
  if (summary.steps == 0) {
    throw core::ConfigError(
        fmt::format("--window: no step begins in '{}'; the run lasts from 0 to {}",
                    options.window.value_or(".."), duration(result.end().since_start().value())));
  }
  if (out == "-") {
    format.stream(timeline, window, std::cout, options);
    return kDone;
  }
  format.write(timeline, window, out, options);
  if (options.json) {
    nlohmann::ordered_json json{{"file", out},
                                {"steps", summary.steps},
                                {"kernels", summary.total.count},
                                {"steps_ns", summary.time.count},
                                {"busy_ns", summary.busy.count},
                                {"gaps_ns", summary.gaps.count},
                                {"host_ns", summary.host.count}};
    for (const auto& [cls, row] : summary.by_class) {
      json["kernels_by_class"].push_back(
          {{"class", timeline::name_of(cls)}, {"count", row.count}, {"total_ns", row.time.count}});
    }
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  fmt::print("{} steps, {} kernels written to {}\n", summary.steps, summary.total.count, out);
  fmt::print("of {} in these steps, kernels ran for {}, gaps between them took {}, the host {}\n\n",
             duration(summary.time.seconds().value()), duration(summary.busy.seconds().value()),
             duration(summary.gaps.seconds().value()), duration(summary.host.seconds().value()));
  Table table({"class", "kernels", "time", "share", "HBM TB/s", "issued TFLOP/s"});
  for (const auto& [cls, row] : summary.by_class) {
    const double seconds = row.time.seconds().value();
    table.add({std::string(timeline::name_of(cls)), number(static_cast<double>(row.count)),
               duration(seconds), fmt::format("{:.1f} %", 100.0 * summary.share(cls)),
               number(row.hbm.value() / seconds * 1e-12),
               number(row.issued.value() / seconds * 1e-12)});
  }
  fmt::print("{}", table.text({1, 2, 3, 4, 5}));
  if (format.stream != nullptr) fmt::print("\nOpen the file in https://ui.perfetto.dev.\n");
  return kDone;
}

}  // namespace

Action declare_trace(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "directory that 'ridgeline run --out' wrote")
      ->required()
      ->type_name("RUN_DIR");
  app.add_option("--window", options->window,
                 "steps that begin in it, e.g. 1.0s..1.2s, 500ms.. or ..2s; all steps if left out")
      ->type_name("FROM..TO");
  app.add_option("--format", options->format,
                 "kineto (PyTorch's JSON), perfetto (protobuf), rocprofv3-csv or rocprofv3-json")
      ->check(CLI::IsMember({"kineto", "perfetto", "rocprofv3-csv", "rocprofv3-json"}))
      ->type_name("FORMAT");
  app.add_option("--out", options->out,
                 "file to write, compressed if it ends in .gz; '-' for stdout; a file in RUN_DIR "
                 "if left out")
      ->type_name("FILE");
  app.add_flag("--fold-dispatch-gaps", options->fold_dispatch_gaps,
               "kineto: show queued kernels without the gaps between them, as roctracer does");
  app.add_flag("--json", options->json, "summary for machines");
  app.footer(
      "\nFor example:\n"
      "  ridgeline trace runs/chat\n"
      "  ridgeline trace runs/chat --window 10s..10.2s --out chat.json.gz");
  return [options] { return trace(*options); };
}

}  // namespace ridgeline::cli
