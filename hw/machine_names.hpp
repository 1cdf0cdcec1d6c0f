#pragma once
// Which shipped machine a text is about. Tables, people and profilers name GPUs in their own ways
// ("H100 SXM", "8x A100-SXM4-40GB", "NVIDIA GeForce RTX 4090"); a configuration in configs/hw is
// found by its file's name, its title or its aliases within that text, in any spelling
// (core/spelling.hpp). Left out: architectures ("gfx942"), which several machines share.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config_library.hpp"

namespace ridgeline::hw {

class MachineNames {
 public:
  explicit MachineNames(const core::ConfigLibrary& library);

  /// The name of the machine's configuration; empty if the text names none. Of several machines the
  /// one named first; of those that begin there ("h100", "h100_pcie") the longer name.
  [[nodiscard]] std::string in(std::string_view text) const;

 private:
  std::vector<std::pair<std::string, std::string>> words_;  // plain, and the name they mean
};

}  // namespace ridgeline::hw
