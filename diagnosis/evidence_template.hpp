#pragma once
// The evidence file that a person fills in: every key with its meaning and an example, commented
// out, the most telling first; and the same as JSON, from which the page of the documentation is
// made. Written from the tables that the reader reads by, so that it cannot say anything else.
//
// A line whose '#' has a word or a dash right behind it is an entry: without the '#' it is read,
// whatever other lines are. A line of prose has a blank there.

#include <nlohmann/json.hpp>
#include <string>

namespace ridgeline::diagnosis {

/// Names that stand as examples; what ships is data, not known here.
struct TemplateNames {
  std::string machine;
  std::string model;
};

/// With `training` the quantities of a training step, without it those of a server.
[[nodiscard]] std::string evidence_template(const TemplateNames& names, bool training = false);

/// {sections: {name: [{key, meaning, example, unit}]}, symptoms, changes, fixes}.
[[nodiscard]] nlohmann::ordered_json evidence_keys_json();

}  // namespace ridgeline::diagnosis
