#include "timeline/readers/kineto.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.hpp"
#include "timeline/readers/json_cursor.hpp"
#include "timeline/readers/kineto_event.hpp"
#include "timeline/readers/kineto_events.hpp"
#include "timeline/readers/kineto_header.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::size_t kHead = std::size_t{1} << 16U;  // of a file, where its first keys are

/// Walks the document and hands on its events.
class Kineto {
 public:
  explicit Kineto(const RecordingFile& file)
      : file_(file),
        cursor_(file.text),
        event_(file.text),
        header_(file.text),
        events_(recording_) {
    recording_.format = "kineto";
    recording_.file = file.name;
  }

  Recording read() {
    if (cursor_.enter('[')) {
      read_events();
    } else if (cursor_.enter('{')) {
      std::string_view key;
      while (cursor_.next_member(key)) {
        if (key == "traceEvents" && cursor_.enter('[')) {
          read_events();
        } else if (const auto value = cursor_.value()) {
          read_kineto_header(key, *value, header_, recording_);
        }
      }
    }
    tell_of_damage();
    events_.finish();
    finish_recording(recording_);
    return std::move(recording_);
  }

 private:
  void read_events() {
    while (cursor_.next_element()) {
      const auto text = cursor_.value();
      if (!text) return;
      ++count_;
      if (const KinetoEvent* event = event_.read(*text)) {
        events_.add(*event);
      } else {
        ++unreadable_;
      }
    }
  }

  void tell_of_damage() {
    if (unreadable_ > 0) {
      recording_.missing.push_back(std::to_string(unreadable_) +
                                   (unreadable_ == 1 ? " event is" : " events are") +
                                   " not JSON, left out");
    }
    if (!cursor_.damaged()) return;
    const std::string where = "(byte " + std::to_string(cursor_.position()) + ")";
    if (count_ == 0)
      throw core::ConfigError(file_.name + ": the JSON is damaged before its first event " + where);
    recording_.missing.push_back("the file is damaged after event " + std::to_string(count_) + " " +
                                 where + "; the rest is lost");
    if (recording_.device_events.empty() && recording_.calls.empty() && !events_.has_rows()) {
      throw core::ConfigError(
          file_.name + ": " + recording_.missing.back() +
          ", and what came before holds neither device events nor runtime calls");
    }
  }

  const RecordingFile& file_;
  Recording recording_;
  JsonCursor cursor_;
  KinetoEventReader event_;
  JsonParser header_;
  KinetoEvents events_;
  std::int64_t count_ = 0;
  std::int64_t unreadable_ = 0;
};

}  // namespace

bool recognizes_kineto(const RecordingFile& file) {
  JsonCursor cursor(file.text);
  const std::string_view head = file.text.substr(0, kHead);
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  if (cursor.enter('[')) return has("\"ph\"");
  if (!cursor.enter('{') || has("\"rocprofiler-sdk-tool\"")) return false;
  constexpr std::array<std::string_view, 4> kFirstKeys{
      "\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\""};
  return std::any_of(kFirstKeys.begin(), kFirstKeys.end(), has) ||
         file.text.find(kFirstKeys[0]) != std::string_view::npos;
}

Recording read_kineto(const RecordingFile& file) { return Kineto(file).read(); }

}  // namespace ridgeline::timeline
