// Every format. A new one is one file and one line here.

#include <array>

#include "diagnosis/pasted/format.hpp"

namespace ridgeline::diagnosis::pasted {

extern const PastedFormat kServingBenchmark;
extern const PastedFormat kOfflineBenchmark;
extern const PastedFormat kSglangOneBatch;
extern const PastedFormat kTrtllmBench;
extern const PastedFormat kLlamaBench;
extern const PastedFormat kLlamaTimings;
extern const PastedFormat kLlamaStartup;
extern const PastedFormat kTgiBenchmark;
extern const PastedFormat kTgiLog;
extern const PastedFormat kVllmStatus;
extern const PastedFormat kVllmStartup;
extern const PastedFormat kSglangStatus;
extern const PastedFormat kSglangStartup;
extern const PastedFormat kEngineConfig;
extern const PastedFormat kKernelChoice;
extern const PastedFormat kPreemptions;
extern const PastedFormat kCommandLine;
extern const PastedFormat kTorchTable;
extern const PastedFormat kNsysTable;
extern const PastedFormat kKernelCsv;
extern const PastedFormat kRocprofSummary;
extern const PastedFormat kNvidiaSmi;
extern const PastedFormat kRocmSmi;
extern const PastedFormat kFiller;

std::span<const PastedFormat* const> all_formats() {
  static constexpr std::array kTable{
      &kVllmStatus,     &kSglangStatus, &kTgiLog,       &kVllmStartup,      &kSglangStartup,
      &kEngineConfig,   &kPreemptions,  &kKernelChoice, &kServingBenchmark, &kOfflineBenchmark,
      &kSglangOneBatch, &kTrtllmBench,  &kLlamaBench,   &kLlamaTimings,     &kLlamaStartup,
      &kTgiBenchmark,   &kTorchTable,   &kNsysTable,    &kKernelCsv,        &kRocprofSummary,
      &kNvidiaSmi,      &kRocmSmi,      &kCommandLine,  &kFiller,
  };
  return kTable;
}

}  // namespace ridgeline::diagnosis::pasted
