#pragma once
// What a set of evidence files turned out to be: the answers that count as right. Kept apart from
// the evidence, which holds nothing of it.

#include <filesystem>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/regime.hpp"

namespace ridgeline::whatif {

struct KnownAnswer {
  std::string name;
  std::filesystem::path path;  // of the evidence, or of the trace
  std::string hw;              // of a trace that needs it
  std::string model;
  std::vector<diagnosis::Regime> regimes;
  std::vector<std::string> fixes;    // any of them
  std::vector<std::string> rejects;  // any of them; none: not judged
  bool inconsistent = false;         // the numbers cannot all be true
};

/// The entries of `configs/truth/KIND.yaml`: kind is "cases", "reports" or "traces". Evidence lies
/// beside it; paths of traces stay as written.
[[nodiscard]] std::vector<KnownAnswer> read_known_answers(const core::ConfigLibrary& library,
                                                          const std::string& kind);

}  // namespace ridgeline::whatif
