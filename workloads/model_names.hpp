#pragma once
// Which shipped model a checkpoint is of. People and engines name checkpoints by repositories,
// paths and files ("acme/Chat-8B-Instruct-AWQ", "/models/Chat-8B-Q4_K_M.gguf"); a configuration in
// configs/models is found by its file's name, its title or its aliases at the front of one part of
// that path, in any spelling (core/spelling.hpp). What stands behind the name may only say how the
// model was tuned or stored: another word makes another model.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config_library.hpp"

namespace ridgeline::workloads {

struct NamedModel {
  std::string name;                  // of the configuration
  std::vector<std::string> storage;  // the words behind it: "instruct", "awq", "q4"
};

class ModelNames {
 public:
  explicit ModelNames(const core::ConfigLibrary& library);

  [[nodiscard]] std::optional<NamedModel> in(std::string_view path) const;

 private:
  std::vector<std::pair<std::string, std::string>> words_;  // plain, and the name they mean
};

/// The words of a checkpoint's name, in lower case, whether or not its model is known.
[[nodiscard]] std::vector<std::string> words_of_checkpoint(std::string_view path);

}  // namespace ridgeline::workloads
