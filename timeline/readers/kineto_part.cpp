#include "timeline/readers/kineto_part.hpp"

#include <utility>

namespace ridgeline::timeline {

void KinetoPart::read(std::size_t from, std::size_t to) {
  cursor_ = JsonCursor(text_, from);
  stopped_ = false;
  while (cursor_.next_element()) {
    if (cursor_.position() >= to) {
      stopped_ = true;
      return;
    }
    if (cursor_.position() >= singly_until_) {
      read_window(to);
    } else if (!read_one()) {
      return;
    }
  }
}

/// Moves past the events that a window gives. If it does not give all, the next are read singly:
/// another window would fail at the same one.
void KinetoPart::read_window(std::size_t to) {
  const std::size_t from = cursor_.position();
  const JsonWindow::Outcome outcome =
      window_.for_each_object(from, to, [&](simdjson::ondemand::object object) {
        const KinetoEvent* const event = reader_.read(object);
        if (event == nullptr || !has_end(object)) return false;
        events.add(*event);
        ++count_;
        return true;
      });
  if (outcome.whole) {
    events.expect(std::exchange(expected_, 0) / (window_.end() - from) + 1);
    cursor_ = JsonCursor(text_, window_.end());
    return;
  }
  singly_until_ = from + JsonWindow::kSize;
  if (outcome.last) {
    cursor_ = JsonCursor(text_, *outcome.last);
    static_cast<void>(cursor_.value());
  }
}

bool KinetoPart::read_one() {
  const auto text = cursor_.value();
  if (!text) return false;
  ++count_;
  if (const KinetoEvent* event = reader_.read(*text)) {
    events.add(*event);
  } else {
    ++unreadable_;
  }
  return true;
}

void KinetoPart::take(KinetoPart& later) {
  events.take(later.events);
  count_ += later.count_;
  unreadable_ += later.unreadable_;
  cursor_ = later.cursor_;
  stopped_ = later.stopped_;
}

}  // namespace ridgeline::timeline
