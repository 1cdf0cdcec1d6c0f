// How fast the program is, on this computer: one Markdown row a figure.
//
//   ridgeline_bench [TRACE.csv]     the trace is replayed by the scenario chat_8b; without one its
//   own requests are
//
// Each figure is the best of several runs: the machine may be doing other things, the program not.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "sim/run.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/summary.hpp"
#include "whatif/diagnose_run.hpp"

namespace {

using namespace ridgeline;

constexpr int kRepeats = 5;

template <class Work>
double best_seconds(Work&& work) {
  double best = 1e300;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

/// Steps of pure decode at a fixed batch, to see the cost of one.
double microseconds_per_decode_step(std::int64_t batch, const core::ConfigLibrary& library) {
  const sim::Scenario scenario = sim::load_scenario(
      "chat_8b",
      {{"workload.requests", std::to_string(batch)},
       {"workload.arrivals", fmt::format("{{closed_loop: {{concurrency: {}}}}}", batch)},
       {"workload.prompt_tokens", "128"},
       {"workload.output_tokens", "4000"}},
      library);
  std::size_t steps = 0;
  const double seconds = best_seconds([&] { steps = sim::run(scenario).steps.size(); });
  return seconds / static_cast<double>(steps) * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const auto library = core::ConfigLibrary::standard();
  std::vector<sim::Override> overrides;
  if (argc > 1) overrides.emplace_back("workload.trace", argv[1]);
  const sim::Scenario scenario = sim::load_scenario("chat_8b", overrides, library);

  sim::RunResult result;
  const double run_seconds = best_seconds([&] { result = sim::run(scenario); });
  const double peak_mb = peak_memory_mb();
  const double steps = static_cast<double>(result.steps.size());
  const double requests = static_cast<double>(result.requests.size());
  const double simulated = result.end().since_start().value();

  // A sample of steps is expanded to kernels, summed up as the diagnosis does.
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < result.steps.size();
       i += std::max<std::size_t>(1, result.steps.size() / 10000))
    sample.push_back(i);
  timeline::Summary summary;
  const double expand_seconds =
      best_seconds([&] { summary = timeline::summarize(sim::RunTimeline(result, sample)); });
  const double diagnose_seconds = best_seconds([&] {
    static_cast<void>(diagnosis::diagnose(
        whatif::observe_run(result, sim::measure(result), whatif::telling_part(result))));
  });

  fmt::print("| figure | value |\n|---|---|\n");
  fmt::print("| requests, steps simulated | {:.0f}, {:.0f} |\n", requests, steps);
  fmt::print("| wall time | {:.2f} s ({:.0f} times real time, {:.0f} requests/s) |\n", run_seconds,
             simulated / run_seconds, requests / run_seconds);
  fmt::print("| peak memory | {:.0f} MB |\n", peak_mb);
  fmt::print("| one step, all kinds | {:.2f} us |\n", run_seconds / steps * 1e6);
  for (const std::int64_t batch : {1, 32, 256}) {
    fmt::print("| one decode step at batch {} | {:.2f} us |\n", batch,
               microseconds_per_decode_step(batch, library));
  }
  fmt::print("| kernels expanded and summed up | {:.1f} million/s |\n",
             static_cast<double>(summary.total.count) / expand_seconds * 1e-6);
  fmt::print("| metrics, profile of 2,000 steps and diagnosis | {:.0f} ms |\n",
             diagnose_seconds * 1e3);
  fmt::print("\n{}, one core, release build; best of {} runs.\n", processor(), kRepeats);
  return 0;
}
