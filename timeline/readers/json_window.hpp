#pragma once
// Objects of a long array, as many at a time as a processor's cache holds: simdjson parses them as
// one document, which is much faster than each alone. Where to cut is guessed from the text around
// it and found out to be right by parsing; where it was wrong or anything is damaged, JsonCursor
// has to go on from the last object that was good.

#include <simdjson.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace ridgeline::timeline {

/// What looks like the place between two objects of an array: `},{`, with space anywhere.
struct JsonSeam {
  std::size_t end = 0;   // behind the object before it
  std::size_t next = 0;  // where the one behind it begins
};

/// The last such place of which `text` between `from` and `to` has all.
[[nodiscard]] std::optional<JsonSeam> last_seam(std::string_view text, std::size_t from,
                                                std::size_t to);

/// Whether the object, of which maybe only the beginning was read, has an end: it could be cut off,
/// and what looks like its end be the window's.
[[nodiscard]] bool has_end(simdjson::ondemand::object& object);

class JsonWindow {
 public:
  static constexpr std::size_t kSize = std::size_t{1} << 18U;

  explicit JsonWindow(std::string_view text) : text_(text) {}

  /// What for_each_object() came to.
  struct Outcome {
    std::optional<std::size_t> last;  // where the last object begins for which `f` was true
    bool whole = false;               // that one ends at end(), and all before it were good
  };

  /// Calls `f(object)` for the objects of the window that begins at `from`, the first of them, and
  /// takes objects that begin before `to`. Ends with the first that is damaged or for which `f` is
  /// false.
  template <class F>
  Outcome for_each_object(std::size_t from, std::size_t to, const F& f) {
    Outcome outcome;
    simdjson::ondemand::document document;
    simdjson::ondemand::array objects;
    if (!take(from, to) || parser_.iterate(padded()).get(document) != simdjson::SUCCESS ||
        document.get_array().get(objects) != simdjson::SUCCESS)
      return outcome;
    for (auto element : objects) {
      simdjson::ondemand::value value;
      simdjson::ondemand::object object;
      if (element.get(value) != simdjson::SUCCESS) return outcome;
      const char* const begin = value.raw_json_token().data();
      if (value.get_object().get(object) != simdjson::SUCCESS || !f(object)) return outcome;
      outcome.last = from + static_cast<std::size_t>(begin - (bytes_.data() + 1));
    }
    outcome.whole = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return outcome;
  }

  /// Behind the window's last object.
  [[nodiscard]] std::size_t end() const { return end_; }

 private:
  bool take(std::size_t from, std::size_t to);
  [[nodiscard]] simdjson::padded_string_view padded() const;

  std::string_view text_;
  std::vector<char> bytes_;  // '[', the objects, ']', room for simdjson to read past the end
  std::size_t size_ = 0;     // of the objects
  std::size_t end_ = 0;
  simdjson::ondemand::parser parser_;
};

}  // namespace ridgeline::timeline
