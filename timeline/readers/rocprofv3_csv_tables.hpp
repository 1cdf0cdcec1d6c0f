#pragma once
// The tables of rocprofv3, one by one, into a recording. Tables of one process are joined; those of
// several have identifiers that mean different things, so each process is a scope of its own.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocpd_terms.hpp"
#include "timeline/recording.hpp"

namespace ridgeline::timeline {

enum class RocprofTable : std::uint8_t {
  kernels,
  counters,
  calls,
  copies,
  allocations,
  statistics,
  none
};

/// Which table a header belongs to.
[[nodiscard]] RocprofTable rocprof_table(const std::vector<std::string_view>& header);

class RocprofTables {
 public:
  explicit RocprofTables(Recording& recording) : recording_(recording) {}

  /// Adds a table of one of the first five kinds. Kernels must come before counters. `process`
  /// names the scope.
  void add(RocprofTable table, const std::string& file, std::string_view text,
           const std::string& process);
  /// Says what was left out, and finishes the recording.
  void finish();

 private:
  void add_kernels(ProfilerCsv& csv, const std::string& process);
  void add_counters(ProfilerCsv& csv, const std::string& process);
  void add_calls(ProfilerCsv& csv, const std::string& process);
  void add_copies(ProfilerCsv& csv, const std::string& process);
  void add_allocations(ProfilerCsv& csv, const std::string& process);
  void note_cut(bool cut);

  /// Files converted from rocpd name the process in every row, by a Guid.
  [[nodiscard]] std::int64_t scope(const std::string& process, std::string_view guid) {
    return scopes_.scope_of(guid.empty() ? process : process + "/" + std::string(guid));
  }

  Recording& recording_;
  std::string file_;
  ProcessScopes scopes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>
      dispatches_;  // (scope, Dispatch_Id): index of the event
  std::int64_t counters_without_kernel_ = 0;
  bool counted_ = false;
  TimeGate gate_;
};

}  // namespace ridgeline::timeline
