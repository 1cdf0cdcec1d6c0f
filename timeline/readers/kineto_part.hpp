#pragma once
// A stretch of a trace's events, and how far it could be read. Parts are read each by a thread and
// then joined in the file's order.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "timeline/readers/json_cursor.hpp"
#include "timeline/readers/json_window.hpp"
#include "timeline/readers/kineto_event.hpp"
#include "timeline/readers/kineto_events.hpp"
#include "timeline/recording.hpp"

namespace ridgeline::timeline {

class KinetoPart {
 public:
  /// Makes room for the events of `expected` bytes of the `text`.
  KinetoPart(std::string_view text, std::size_t expected)
      : text_(text), expected_(expected), cursor_(text), window_(text), reader_(text) {}
  KinetoPart(const KinetoPart&) = delete;  // events looks at recording
  KinetoPart& operator=(const KinetoPart&) = delete;

  /// Reads the elements of an array that begin before `to`; `from` is between two of them.
  void read(std::size_t from, std::size_t to);
  /// Adds what `later` read, which began where this one stopped.
  void take(KinetoPart& later);

  /// Where to go on: at the first element not read, behind the array, or where the damage is.
  [[nodiscard]] const JsonCursor& cursor() const { return cursor_; }
  /// Whether the array goes on there.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t unreadable() const { return unreadable_; }  // of those

  Recording recording;
  KinetoEvents events{recording};

 private:
  void read_window(std::size_t to);
  bool read_one();

  std::string_view text_;
  std::size_t expected_;
  JsonCursor cursor_;
  JsonWindow window_;
  KinetoEventReader reader_;
  std::size_t singly_until_ = 0;  // a window before this has failed
  bool stopped_ = false;
  std::int64_t count_ = 0;
  std::int64_t unreadable_ = 0;
};

}  // namespace ridgeline::timeline
