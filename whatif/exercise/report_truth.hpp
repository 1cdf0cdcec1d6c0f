#pragma once
// What the people found who wrote the public reports, as far as the reports say it: a file beside
// them,
//
//   - file: r11_fourteen_thousand_kernels
//     regimes: [overhead_bound]        the right one first
//     fixes: [compile_fusion]          that helped
//     rejects: [weight_quantization_4bit]
//     inconsistent: false              its numbers contradict one another

#include <filesystem>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/regime.hpp"

namespace ridgeline::whatif {

struct ReportTruth {
  std::filesystem::path evidence;
  std::vector<diagnosis::Regime> regimes;
  std::vector<std::string> fixes;
  std::vector<std::string> rejects;
  bool inconsistent = false;
};

[[nodiscard]] std::filesystem::path report_truths_file(const core::ConfigLibrary& library);

/// ConfigError, with its place, for a report, regime or fix that there is not.
[[nodiscard]] std::vector<ReportTruth> read_report_truths(const std::filesystem::path& file);

}  // namespace ridgeline::whatif
