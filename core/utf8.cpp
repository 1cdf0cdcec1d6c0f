#include "core/utf8.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::core {
namespace {

/// Well-formed byte sequences by their first byte: RFC 3629, section 4. Bytes after the second are
/// always 80 to BF.
struct Form {
  unsigned char first_low, first_high;
  unsigned char second_low, second_high;
  std::size_t length;
};
constexpr std::array<Form, 9> kForms{{{0x00, 0x7f, 0x00, 0x00, 1},
                                      {0xc2, 0xdf, 0x80, 0xbf, 2},
                                      {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                      {0xe1, 0xec, 0x80, 0xbf, 3},
                                      {0xed, 0xed, 0x80, 0x9f, 3},  // no surrogates
                                      {0xee, 0xef, 0x80, 0xbf, 3},
                                      {0xf0, 0xf0, 0x90, 0xbf, 4},
                                      {0xf1, 0xf3, 0x80, 0xbf, 4},
                                      {0xf4, 0xf4, 0x80, 0x8f, 4}}};

/// Bytes of the character at the front of `text`, or 0 when there is none.
std::size_t length_of_first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto form = std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) {
    return f.first_low <= byte(0) && byte(0) <= f.first_high;
  });
  if (form == kForms.end() || text.size() < form->length) return 0;
  if (form->length > 1 && (byte(1) < form->second_low || byte(1) > form->second_high)) return 0;
  for (std::size_t i = 2; i < form->length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  return form->length;
}

}  // namespace

std::size_t first_byte_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = length_of_first(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace ridgeline::core
