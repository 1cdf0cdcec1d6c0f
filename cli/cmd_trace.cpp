#include <fmt/format.h>

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

namespace ridgeline::cli {
namespace {

struct Options {
  std::string run;
  std::optional<std::string> window;
  std::optional<std::string> out;
  bool json = false;
};

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
  if (dots == std::string::npos) throw core::ConfigError("--window: expected two times like '1.0s..1.2s', got '" + text + "'");
  const timeline::Window window{instant(text.substr(0, dots), core::Instant{}), instant(text.substr(dots + 2), core::kNever)};
  if (window.begin >= window.end) throw core::ConfigError("--window: the end must come after the beginning, got '" + text + "'");
  return window;
}

/// Where the timeline goes; never over the run it is made from.
std::string place_of(const Options& options) {
  if (!options.out) return (std::filesystem::path(options.run) / "timeline.json.gz").string();
  if (options.out->empty()) throw core::ConfigError("--out: expected a file, got ''");
  if (*options.out == "-" && options.json) throw core::ConfigError("trace: --json cannot stand beside --out -: both write to stdout");
  if (sim::is_file_of_run(*options.out, options.run)) {
    throw core::ConfigError(*options.out + ": a file of the run itself; choose another one");
  }
  return *options.out;
}

int trace(const Options& options) {
  const std::string out = place_of(options);
  const timeline::Window window = options.window ? parse_window(*options.window) : timeline::Window{};
  const sim::RunResult result = sim::read_run_directory(options.run, core::ConfigLibrary::standard());
  const sim::RunTimeline timeline(result);
  const timeline::Summary summary = timeline::summarize(timeline, window);
  if (summary.steps == 0) {
    throw core::ConfigError(fmt::format("--window: no step begins in '{}'; the run lasts from 0 to {}", options.window.value_or(".."),
                                        duration(result.end().since_start().value())));
  }
  if (out == "-") {
    timeline::write_kineto(timeline, window, std::cout, {});
    return kDone;
  }
  timeline::write_kineto_file(timeline, window, out, {});
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
    table.add({std::string(timeline::name_of(cls)), number(static_cast<double>(row.count)), duration(seconds),
               fmt::format("{:.1f} %", 100.0 * summary.share(cls)), number(row.hbm.value() / seconds * 1e-12),
               number(row.issued.value() / seconds * 1e-12)});
  }
  fmt::print("{}\nOpen the file in https://ui.perfetto.dev or chrome://tracing.\n", table.text({1, 2, 3, 4, 5}));
  return kDone;
}

}  // namespace

Action declare_trace(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "directory that 'ridgeline run --out' wrote")->required()->type_name("RUN_DIR");
  app.add_option("--window", options->window, "steps that begin in it, e.g. 1.0s..1.2s, 500ms.. or ..2s; all steps if left out")
      ->type_name("FROM..TO");
  app.add_option("--out", options->out, "file to write, compressed if it ends in .gz; '-' for stdout; RUN_DIR/timeline.json.gz if left out")
      ->type_name("FILE");
  app.add_flag("--json", options->json, "summary for machines");
  app.footer(
      "\nFor example:\n"
      "  ridgeline trace runs/chat\n"
      "  ridgeline trace runs/chat --window 10s..10.2s --out chat.json.gz");
  return [options] { return trace(*options); };
}

}  // namespace ridgeline::cli
