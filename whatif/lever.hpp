#pragma once
// Changes to a scenario by name: quantize:int4, graphs:on, batch:64, gpu:h200, any KEY=VALUE, and
// every fix of the diagnosis that a simulated server has a mechanism for.

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"
#include "whatif/interventions.hpp"

namespace ridgeline::whatif {

/// What stands after the colon: "int4", or "k=4,acceptance=0.7".
class LeverArgument {
 public:
  /// `lever` is the whole text, for errors.
  LeverArgument(std::string_view lever, std::string_view argument, std::string_view expected);

  /// The word, where one was given without a key or with `key`; else `fallback`. Without a fallback
  /// it must be there.
  [[nodiscard]] std::string word(std::string_view key) const;
  [[nodiscard]] std::string word(std::string_view key, std::string_view fallback) const;
  /// A whole number of at least one.
  [[nodiscard]] std::int64_t count(std::string_view key) const;
  /// The value of a key, where it was given.
  [[nodiscard]] std::optional<std::string> named(std::string_view key) const;
  /// ConfigError where anything but these keys was given.
  void allow(std::initializer_list<std::string_view> keys) const;
  /// One of two words: the first is true.
  [[nodiscard]] bool either(std::string_view yes, std::string_view no) const;
  /// ConfigError: what was expected, what stands there.
  [[noreturn]] void fail() const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string lever_;
  std::string text_;
  std::string expected_;
  std::vector<std::pair<std::string, std::string>> values_;  // the key is "" where none was given
};

/// What a lever does to one scenario.
struct LeverEffect {
  Overrides overrides;  // empty: it is so already
  std::string fix;      // by which the diagnosis knows it; empty: it does not
};

struct Lever {
  std::string_view name;
  std::string_view argument;  // as help shows it
  std::string_view meaning;
  LeverEffect (*effect)(const sim::Scenario&, const LeverArgument&);
};

/// In the order of help. The fixes of the diagnosis are levers without an argument besides.
[[nodiscard]] std::span<const Lever> levers();

struct NamedChange {
  std::string name;  // as it was written
  LeverEffect effect;
};

/// The change that `text` names: "quantize:int4", "engine.max_num_seqs=64", "graph_capture",
/// "none". ConfigError with the nearest name; also for a fix without a mechanism, with the reason.
[[nodiscard]] NamedChange change_named(const std::string& text, const sim::Scenario& scenario);

/// The scenario after changes, one after the other, each seeing what those before it made.
struct ChangedScenario {
  sim::Scenario scenario;
  std::vector<NamedChange> changes;
  Overrides overrides;  // of all of them
};
[[nodiscard]] ChangedScenario with_changes(const sim::Scenario& scenario,
                                           const std::vector<std::string>& names,
                                           const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
