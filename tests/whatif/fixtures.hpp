#pragma once
// What the what-if tests share: the shipped cases, each run once.

#include <map>

#include "tests/sim/fixtures.hpp"
#include "whatif/run_case.hpp"

namespace ridgeline::tests {

/// The five cases as they come out, by their files' names.
inline const std::map<std::string, whatif::CaseOutcome>& outcomes() {
  static const std::map<std::string, whatif::CaseOutcome> all = [] {
    std::map<std::string, whatif::CaseOutcome> out;
    for (const auto& file : whatif::case_files(shipped())) {
      out.emplace(file.stem().string(),
                  whatif::run_case(whatif::load_case(file, shipped()), shipped()));
    }
    return out;
  }();
  return all;
}

inline std::string first_of(const std::vector<diagnosis::Recommendation>& list) {
  return list.empty() ? "" : list.front().name;
}

}  // namespace ridgeline::tests
