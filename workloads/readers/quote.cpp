#include "workloads/readers/quote.hpp"

namespace ridgeline::workloads {

std::string quote(std::string_view text, std::size_t most) {
  std::string out = "'";
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > most ? "...'" : "'");
}

}  // namespace ridgeline::workloads
