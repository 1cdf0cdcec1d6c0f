#include "timeline/readable_name.hpp"

#include <cctype>

namespace ridgeline::timeline {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The identifiers at the head of a mangled name, `_ZN5aiter24add_rmsnorm_quant_kernelI...`: each
/// is its length and itself. Demangling the rest would only spell out what is left out here, and
/// GPU compilers use types (DF16b) that older demanglers refuse.
std::string identifiers(std::string_view mangled) {
  std::string out;
  mangled.remove_prefix(2);  // _Z
  if (mangled.starts_with('N')) mangled.remove_prefix(1);
  while (!mangled.empty() && is_digit(mangled.front())) {
    std::size_t length = 0;
    while (!mangled.empty() && is_digit(mangled.front()) && length < 1000) {
      length = 10 * length + static_cast<std::size_t>(mangled.front() - '0');
      mangled.remove_prefix(1);
    }
    if (length == 0 || length > mangled.size()) break;
    const std::string_view identifier = mangled.substr(0, length);
    if (!identifier.starts_with("_GLOBAL__N"))  // an unnamed namespace
      out += (out.empty() ? "" : "::") + std::string(identifier);
    mangled.remove_prefix(length);
  }
  return out;
}

/// Without what stands between < and >, and from the first ( on; "void" and the like before it too.
std::string without_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("(anonymous namespace)::")) {
      i += std::string_view("(anonymous namespace)::").size() - 1;
      continue;
    }
    const char c = name[i];
    if (c == '<') ++depth;
    if (c == '(' && depth == 0) break;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  while (out.ends_with(' ')) out.pop_back();
  if (const std::size_t space = out.rfind(' '); space != std::string::npos) out.erase(0, space + 1);
  return out;
}

}  // namespace

std::string readable_name(std::string_view name) {
  std::string out;
  if (name.starts_with("Cijk_")) {
    const std::size_t tile = name.find("_MT");
    if (tile == std::string_view::npos) return "Tensile";
    return "Tensile " + std::string(name.substr(tile + 1, name.find('_', tile + 1) - tile - 1));
  }
  if (name.starts_with("_Z")) {
    out = identifiers(name);
  } else if (name.find_first_of("<(") != std::string_view::npos) {
    out = without_arguments(name);
  }
  return out.empty() ? std::string(name) : out;
}

}  // namespace ridgeline::timeline
