#pragma once
// Which machine a row of measurements speaks of: one named within its text
// (hw/machine_names.hpp), or one of the architecture that is ("gfx942 304 CU"); and the models and
// stacks that rows name.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/machine_names.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/stack_spec.hpp"

namespace ridgeline::fidelity {

/// The document of a machine that --hw names, bases resolved; a name or a path.
[[nodiscard]] core::Node machine_document(const core::ConfigLibrary& library,
                                          const std::string& name);

/// The document of the model that a table's text names, whatever stands behind its last hyphens
/// ("-Instruct-2507", "-99.9"). ConfigError, which begins with `place`, where nothing fits.
[[nodiscard]] core::Node model_document(const core::ConfigLibrary& library, std::string name,
                                        const std::string& place);

class Machines {
 public:
  /// `always`: a name or path of configs/hw that every row is about, whatever it says. ConfigError
  /// if it is none: once, not row by row.
  Machines(const core::ConfigLibrary& library, std::optional<std::string> always);

  /// The machine that `text` names; nothing if none is found in it.
  [[nodiscard]] const hw::GpuSpec* find(const std::string& text);
  /// The name of its configuration; empty if none is found.
  [[nodiscard]] std::string name_of(const std::string& text);
  /// A machine by its configuration's name.
  [[nodiscard]] const hw::GpuSpec& named(const std::string& name);
  /// The model that a text names, as model_document reads it.
  [[nodiscard]] const workloads::ModelSpec& model(const std::string& text,
                                                  const std::string& place);
  [[nodiscard]] const workloads::StackSpec& stack(const std::string& name,
                                                  const std::string& place);
  /// Puts a machine in the place of the configuration of that name.
  void replace(const std::string& name, hw::GpuSpec spec) { specs_[name] = std::move(spec); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  [[nodiscard]] std::string by_architecture(const std::string& wanted);

  const core::ConfigLibrary& library_;
  std::optional<std::string> always_;
  std::vector<std::string> names_;
  std::optional<hw::MachineNames> words_;  // read when first needed
  std::map<std::string, hw::GpuSpec> specs_;
  std::map<std::string, std::string> found_;  // text to name; empty: none
  std::map<std::string, workloads::ModelSpec> models_;
  std::map<std::string, workloads::StackSpec> stacks_;
};

}  // namespace ridgeline::fidelity
