#pragma once
// Where the quantities of typed evidence were written: "e.yaml:12", or the line of the machine's
// file that "machine: name" brought in.

#include <map>
#include <string>
#include <string_view>

#include "core/config_library.hpp"

namespace ridgeline::diagnosis {

class Places {
 public:
  Places() = default;
  Places(const core::Node& document, const core::ConfigLibrary& library);

  /// Of "measured.throughput"; of the section where the quantity itself was not written; "" where
  /// nothing was written at all.
  [[nodiscard]] std::string of(std::string_view quantity) const;

 private:
  std::map<std::string, std::string, std::less<>> lines_;
};

}  // namespace ridgeline::diagnosis
