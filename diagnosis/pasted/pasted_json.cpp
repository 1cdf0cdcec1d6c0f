#include "diagnosis/pasted/pasted_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/utf8.hpp"

namespace ridgeline::diagnosis {
namespace {

nlohmann::ordered_json lines_of(const std::vector<std::string>& lines) {
  auto out = nlohmann::ordered_json::array();
  for (const std::string& line : lines) out.push_back(printable(line));
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const Pasted& pasted) {
  nlohmann::ordered_json json;
  json["facts"] = nlohmann::ordered_json::array();
  for (const PastedFact& fact : pasted.facts) {
    json["facts"].push_back({{"key", printable(fact.key)},
                             {"value", printable(fact.value)},
                             {"line", printable(fact.line)},
                             {"line_number", fact.line_number},
                             {"format", fact.format}});
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (const PastedKernel& kernel : pasted.kernels) {
    json["kernels"].push_back({{"name", printable(kernel.name)},
                               {"calls", kernel.calls},
                               {"seconds", kernel.seconds},
                               {"line_number", kernel.line_number}});
  }
  json["unread"] = lines_of(pasted.unread);
  json["notes"] = lines_of(pasted.notes);
  return json;
}

std::string printable(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t good = core::first_byte_not_utf8(text);
    for (const char c : text.substr(0, good)) {
      if ((static_cast<unsigned char>(c) >= 0x20U && c != 0x7f) || c == '\t') out += c;
    }
    if (good >= text.size()) return out;
    out += "\xef\xbf\xbd";  // the replacement character
    text.remove_prefix(good + 1);
  }
}

}  // namespace ridgeline::diagnosis
