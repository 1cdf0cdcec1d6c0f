// How fast traces are written and read, on this computer: one Markdown row a figure.
//
//   ridgeline_bench_traces FILE.json    writes a simulated run there in Kineto's format, then reads
//   it back
//
// tests/bench/read_with_pandas.py FILE.json reads the same file with Python's json and pandas, for
// comparison.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "diagnosis/trace_study.hpp"
#include "sim/run.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/readers/formats.hpp"
#include "timeline/writers/kineto.hpp"
#include "whatif/case.hpp"

namespace {

using namespace ridgeline;

template <class Work>
double best_seconds(Work&& work) {
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: ridgeline_bench_traces FILE.json\n");
    return 2;
  }
  const std::filesystem::path file = argv[1];
  // Eager steps, so that every kernel has a call, a flow and a grid, as in most traces that people
  // have.
  const sim::RunResult result = sim::run(whatif::open_scenario(
      "chat_8b", {{"workload.requests", "40"}, {"engine.enforce_eager", "true"}},
      core::ConfigLibrary::standard()));
  const sim::RunTimeline timeline(result);
  const double kernels = static_cast<double>(timeline::summarize(timeline).total.count);

  const double write_seconds =
      best_seconds([&] { timeline::write_kineto_file(timeline, {}, file, {}); });
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) * 1e-6;
  const double read_seconds =
      best_seconds([&] { static_cast<void>(timeline::read_recording(file)); });
  const double study_seconds = best_seconds([&] { const diagnosis::TraceStudy study(file); });
  fmt::print("| figure | value |\n|---|---|\n");
  fmt::print("| a simulated run as Kineto JSON | {:.0f} kernels, {:.0f} MB |\n", kernels,
             megabytes);
  fmt::print("| written | {:.2f} million kernels/s |\n", kernels / write_seconds * 1e-6);
  fmt::print("| read | {:.0f} MB/s ({:.2f} s) |\n", megabytes / read_seconds, read_seconds);
  fmt::print("| read, steps found, gates checked, inspected | {:.0f} MB/s ({:.2f} s) |\n",
             megabytes / study_seconds, study_seconds);
  return 0;
}
