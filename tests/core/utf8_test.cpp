#include "core/utf8.hpp"

#include <catch2/catch.hpp>

namespace {

using ridgeline::core::first_byte_not_utf8;

TEST_CASE("Text in UTF-8 has no byte that is not", "[core][utf8]") {
  for (const std::string_view text : {"", "plain", "\xc3\xa9", "\xe8\xaa\x9e", "\xf0\x9f\x98\x80",
                                      "\xef\xbf\xbd", "\xf4\x8f\xbf\xbf"}) {
    CHECK(first_byte_not_utf8(text) == text.size());
  }
}

TEST_CASE("The first byte that is not UTF-8 is found", "[core][utf8]") {
  CHECK(first_byte_not_utf8("ab\xff") == 2);
  CHECK(first_byte_not_utf8("\x80") == 0);   // a continuation of nothing
  CHECK(first_byte_not_utf8("a\xc3") == 1);  // cut short
  CHECK(first_byte_not_utf8("\xc3(") == 0);
  CHECK(first_byte_not_utf8("\xc0\xaf") == 0);  // a slash, longer than it needs to be
  CHECK(first_byte_not_utf8("\xe0\x80\xaf") == 0);
  CHECK(first_byte_not_utf8("\xed\xa0\x80") == 0);      // half of a surrogate pair
  CHECK(first_byte_not_utf8("\xf4\x90\x80\x80") == 0);  // beyond U+10FFFF
}

}  // namespace
