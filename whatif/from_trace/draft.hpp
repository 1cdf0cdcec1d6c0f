#pragma once
// A scenario while it is being fitted to a trace: references to machine, model and a shipped stack,
// what was set over them, and a workload that keeps about the batch that was seen. Requests are not
// in a trace: how long prompts and answers are follows from contexts and from how many steps have
// prefills, and is assumed where those do not say.

#include <string>
#include <vector>

#include "whatif/from_trace/observe.hpp"

namespace ridgeline::whatif {

class Draft {
 public:
  Draft(const TraceFacts& facts, const std::string& stack, std::vector<sim::Override> overrides);

  /// Whether the user said what a value is: then it is not for fitting.
  [[nodiscard]] bool is_given(const std::string& key) const;
  /// Sets a value of the document.
  void set(const std::string& key, const std::string& value);
  /// ConfigError as sim::read_scenario has it.
  [[nodiscard]] sim::Scenario scenario(const core::ConfigLibrary& library) const;
  /// Short: the stack as its base and what differs. The user's own overrides are in it.
  [[nodiscard]] std::string yaml(const core::ConfigLibrary& library) const;
  [[nodiscard]] const std::string& stack() const { return stack_; }
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::vector<sim::Override>& values() const { return values_; }

 private:
  void add_workload(const TraceFacts& facts);

  core::Node document_;
  std::string stack_;
  std::vector<sim::Override> values_;     // that were set, in order
  std::vector<sim::Override> overrides_;  // of the user
  std::vector<std::string> assumptions_;
};

}  // namespace ridgeline::whatif
