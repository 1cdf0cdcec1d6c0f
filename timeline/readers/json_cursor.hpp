#pragma once
// Cuts a JSON text of any size into the texts of its values, so that a reader can walk an array of
// ten million events, hand each to simdjson, and keep the ones before a damage. It looks at
// brackets, quotes and commas only: what is inside a value is for the parser. (simdjson alone takes
// a document whole: not above 4 GiB, and nothing of it if its end is missing.) Nesting costs no
// stack.

#include <cstddef>
#include <optional>
#include <string_view>

namespace ridgeline::timeline {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text, std::size_t at = 0);

  /// Goes into the object '{' or array '[' that begins here. False, and nothing moves, if it is
  /// something else.
  [[nodiscard]] bool enter(char bracket);
  /// Within an array: whether another element begins here. False after its end, which is then
  /// behind, and for damage.
  [[nodiscard]] bool next_element();
  /// Within an object: whether another member follows; its key, as written between the quotes, and
  /// then its value begins here.
  [[nodiscard]] bool next_member(std::string_view& key);
  /// The text of the value that begins here, and moves past it. Nothing if it is damaged or the
  /// text ends before it does.
  [[nodiscard]] std::optional<std::string_view> value();

  [[nodiscard]] std::size_t position() const { return at_; }
  /// Whether the text stopped being JSON; it did so at position().
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  void skip_space();
  bool fail(std::size_t at);
  [[nodiscard]] std::size_t end_of_string(std::size_t after_quote) const;
  [[nodiscard]] std::size_t end_of_nested(std::size_t after_bracket) const;

  std::string_view text_;
  std::size_t at_;
  bool damaged_ = false;
};

}  // namespace ridgeline::timeline
