#pragma once
// A timeline as Perfetto's own protobuf trace, for ui.perfetto.dev and trace_processor:
//
//   a process for the host      a track of its thread's calls, a track of steps, a counter for each
//   of kv_cache_usage, num_running,
//                               num_waiting and preemptions
//   a process for the GPU       a track for each stream
//   a flow for each launch      from the call to the first kernel it launched
//   on a kernel                 correlation, step, grid, block and role as debug annotations
//
// Slices of one track never overlap: what would goes to a further track of the same name. Packets
// are in the order of their time, and are written one by one, so that no more than a step is in
// memory (a source whose spans begin before their step, which the visitor's contract does not
// forbid, gets those packets later; Perfetto sorts).

#include <cstdint>
#include <filesystem>
#include <iosfwd>

#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

struct PerfettoOptions {
  std::int32_t host_process = 4242;
  std::int32_t device = 0;
};

void write_perfetto(const SpanSource& source, Window window, std::ostream& out,
                    const PerfettoOptions& options = {});

/// The same into a file, compressed if its name ends in .gz, there whole or not at all
/// (timeline/writers/output_file.hpp).
void write_perfetto_file(const SpanSource& source, Window window, const std::filesystem::path& path,
                         const PerfettoOptions& options = {});

}  // namespace ridgeline::timeline
