#pragma once
// A case: a scenario, what was given, what was free, and what must come out of it.

#include <filesystem>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "core/interval.hpp"
#include "sim/scenario.hpp"
#include "whatif/profile.hpp"

namespace ridgeline::whatif {

struct Case {
  struct Free {
    std::vector<std::string> keys;  // of the scenario, all set to the one value
    std::string value;
    std::string reason;
  };
  struct Expectation {
    std::string quantity;     // a name in whatif/quantities.hpp
    double value = 0.0;       // as the case states it
    core::Interval accepted;  // what may come out
  };
  std::string letter;
  std::string title;
  std::vector<std::string> given;
  std::vector<Free> free;  // at most four
  ProfileChoice profile;   // the steps that the stated profile covers
  std::vector<Expectation> expectations;
  sim::Scenario scenario;               // with the free values in it
  std::filesystem::path evidence_file;  // the same case as a person would type it
};

/// The most free parameters a case may have: with more, anything can be made to come out.
inline constexpr std::size_t kMostFree = 4;

[[nodiscard]] Case load_case(const std::filesystem::path& file, const core::ConfigLibrary& library);

/// A scenario that has been found, but not yet read.
struct UnreadScenario {
  core::Node document;
  std::vector<sim::Override> overrides;
};

/// The scenario of a file or a shipped name, whether it is a plain one or a case (then with its
/// free values among the overrides, before those given).
[[nodiscard]] UnreadScenario find_scenario(const std::string& name_or_path,
                                           const std::vector<sim::Override>& overrides,
                                           const core::ConfigLibrary& library);
/// The same, read.
[[nodiscard]] sim::Scenario open_scenario(const std::string& name_or_path,
                                          const std::vector<sim::Override>& overrides,
                                          const core::ConfigLibrary& library);

/// The shipped cases in order of their letters.
[[nodiscard]] std::vector<std::filesystem::path> case_files(const core::ConfigLibrary& library);
/// Those of these letters, each once; all of them when no letter is given.
[[nodiscard]] std::vector<Case> chosen_cases(const std::vector<std::string>& letters,
                                             const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
