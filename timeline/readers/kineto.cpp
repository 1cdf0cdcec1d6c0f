#include "timeline/readers/kineto.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "timeline/readers/json_cursor.hpp"
#include "timeline/readers/json_window.hpp"
#include "timeline/readers/kineto_header.hpp"
#include "timeline/readers/kineto_part.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::size_t kHead = std::size_t{1} << 16U;  // of a file, where its first keys are

/// Parts that are worth a thread each.
std::size_t parts_of(std::size_t bytes) {
  constexpr std::size_t kSmallest = std::size_t{4} << 20U;
  constexpr std::size_t kMost = 16;
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(bytes / kSmallest, 1, std::min(threads, kMost));
}

/// Walks the document and hands on its events.
class Kineto {
 public:
  Kineto(const RecordingFile& file, std::size_t parts)
      : file_(file),
        parts_(parts),
        cursor_(file.text),
        header_(file.text),
        all_(file.text, file.text.size()) {
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
    all_.events.finish();
    finish_recording(recording_);
    return std::move(recording_);
  }

 private:
  /// Each part but the first begins where two events seem to meet. Where that was wrong, or the
  /// array ends before, the part before it has not stopped there, and what it read is dropped.
  void read_events() {
    struct Later {
      std::size_t begin;
      std::unique_ptr<KinetoPart> part;
      std::future<void> done;
    };
    const std::size_t begin = cursor_.position();
    const std::size_t size = file_.text.size() - begin;
    std::vector<Later> later;
    for (std::size_t i = 1; i < parts_; ++i) {
      const std::size_t from = later.empty() ? begin : later.back().begin;
      if (const auto seam = last_seam(file_.text, from, begin + size / parts_ * i))
        later.push_back({seam->next, std::make_unique<KinetoPart>(file_.text, size / parts_), {}});
    }
    for (std::size_t i = 0; i < later.size(); ++i) {
      const std::size_t end = i + 1 < later.size() ? later[i + 1].begin : file_.text.size();
      later[i].done = std::async(std::launch::async, &KinetoPart::read, later[i].part.get(),
                                 later[i].begin, end);
    }
    all_.read(begin, later.empty() ? file_.text.size() : later.front().begin);
    for (Later& next : later) {
      next.done.get();
      if (all_.stopped() && all_.cursor().position() == next.begin) all_.take(*next.part);
      next.part.reset();
    }
    if (all_.stopped()) all_.read(all_.cursor().position(), file_.text.size());
    cursor_ = all_.cursor();
  }

  void tell_of_damage() {
    if (all_.unreadable() > 0) {
      recording_.missing.push_back(std::to_string(all_.unreadable()) +
                                   (all_.unreadable() == 1 ? " event is" : " events are") +
                                   " not JSON, left out");
    }
    if (!cursor_.damaged()) return;
    const std::string where = "(byte " + std::to_string(cursor_.position()) + ")";
    if (all_.count() == 0)
      throw core::ConfigError(file_.name + ": the JSON is damaged before its first event " + where);
    recording_.missing.push_back("the file is damaged after event " + std::to_string(all_.count()) +
                                 " " + where + "; the rest is lost");
    if (recording_.device_events.empty() && recording_.calls.empty() && !all_.events.has_rows()) {
      throw core::ConfigError(
          file_.name + ": " + recording_.missing.back() +
          ", and what came before holds neither device events nor runtime calls");
    }
  }

  const RecordingFile& file_;
  std::size_t parts_;
  JsonCursor cursor_;
  JsonParser header_;
  KinetoPart all_;
  Recording& recording_ = all_.recording;
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

Recording read_kineto(const RecordingFile& file) {
  return read_kineto(file, parts_of(file.text.size()));
}

Recording read_kineto(const RecordingFile& file, std::size_t parts) {
  return Kineto(file, parts).read();
}

}  // namespace ridgeline::timeline
