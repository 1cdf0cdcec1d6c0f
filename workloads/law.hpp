#pragma once
// How a law is written in YAML: a map whose one key names the law and whose value holds its
// parameters,
//   arrivals: {poisson: {rate: 5.5 /s}}

#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"

namespace ridgeline::workloads {

/// The one key of the map at `key`. Throws ConfigError, listing `known`, unless it is one of them
/// and alone.
[[nodiscard]] std::string law_name(const core::Reader& in, std::string_view key,
                                   const std::vector<std::string>& known);

/// The law at `key`, by a table of {name, function that reads the law's parameters}. The functions
/// get the map at `key`.
template <class Read>
[[nodiscard]] auto read_law(const core::Reader& in, std::string_view key,
                            const std::vector<core::Choice<Read>>& table) {
  std::vector<std::string> known;
  for (const auto& law : table) known.emplace_back(law.name);
  const std::string name = law_name(in, key, known);
  const auto* law = table.data();
  while (law->name != name) ++law;
  return law->value(in.child(key));
}

}  // namespace ridgeline::workloads
