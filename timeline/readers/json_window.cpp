#include "timeline/readers/json_window.hpp"

#include <algorithm>

namespace ridgeline::timeline {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

std::optional<JsonSeam> last_seam(std::string_view text, std::size_t from, std::size_t to) {
  const std::string_view part = text.substr(0, std::min(to, text.size()));
  const auto skip_space_before = [&](std::size_t at) {
    while (at > from && is_space(part[at - 1])) --at;
    return at;
  };
  std::size_t brace = part.size();
  while (brace > from) {
    brace = part.rfind('{', brace - 1);
    if (brace == std::string_view::npos || brace <= from) return std::nullopt;
    const std::size_t behind_comma = skip_space_before(brace);
    if (behind_comma == from || part[behind_comma - 1] != ',') continue;
    const std::size_t end = skip_space_before(behind_comma - 1);
    if (end > from && part[end - 1] == '}') return JsonSeam{end, brace};
  }
  return std::nullopt;
}

bool has_end(simdjson::ondemand::object& object) {
  std::string_view text;
  if (object.raw_json().get(text) != simdjson::SUCCESS) return false;
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text.ends_with('}');
}

bool JsonWindow::take(std::size_t from, std::size_t to) {
  // A seam at `to` itself lies wholly before the byte behind it.
  const auto seam = last_seam(text_, from, std::min(to, from + kSize - 1) + 1);
  if (!seam) return false;
  end_ = seam->end;
  size_ = end_ - from;
  bytes_.resize(kSize + 2 + simdjson::SIMDJSON_PADDING);
  bytes_[0] = '[';
  std::memcpy(bytes_.data() + 1, text_.data() + from, size_);
  bytes_[size_ + 1] = ']';
  bytes_[size_ + 2] = ' ';  // simdjson looks at it: a bracket there would be suspicious
  return true;
}

simdjson::padded_string_view JsonWindow::padded() const {
  return simdjson::padded_string_view(bytes_.data(), size_ + 2, bytes_.size());
}

}  // namespace ridgeline::timeline
