#pragma once
// One event of a Chrome trace, as Kineto, rocprof and rpd2tracing write it: the keys of the event
// and of its args that anything here asks for. Numbers may be strings, keys may come in any order,
// the last of a duplicate counts, unknown ones are skipped.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timeline/readers/json_value.hpp"

namespace ridgeline::timeline {

struct KinetoEvent {
  /// What its cat says. Kineto's old releases wrote Kernel, Runtime, Operator.
  enum class Category : std::uint8_t {
    none,
    other,
    kernel,
    copy,
    set,
    runtime,
    op,
    annotation,
    device_annotation
  };

  char phase = '\0';
  Category category = Category::none;
  std::string_view name;  // texts are valid until the next event is read
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> duration_ns;
  std::int64_t process = 0;  // 0 too where it is a word ("Spans")
  std::int64_t thread = 0;
  std::int64_t id = 0;  // of a flow

  // args
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::int64_t correlation = 0;
  std::int64_t external_id = 0;
  std::int64_t bytes = -1;
  std::int64_t graph = 0;
  std::string_view kind;         // of a copy, a dispatch, a runtime's copy
  std::string_view description;  // "desc" of rpd2tracing
  std::string_view label;        // "name" of a metadata event
  std::array<std::int64_t, 3> grid{};
  std::array<std::int64_t, 3> block{};
  std::vector<std::vector<std::int64_t>> shapes;
  std::string_view dtype;
  std::vector<std::pair<std::string_view, double>> series;  // of a counter
};

class KinetoEventReader {
 public:
  /// `whole` is the text of the file.
  explicit KinetoEventReader(std::string_view whole) : json_(whole) {}

  /// Reads the event in `text`, an object; nothing if it is damaged. An event of no use ends with
  /// its category or phase; what follows those is not read.
  [[nodiscard]] const KinetoEvent* read(std::string_view text);
  /// The same of an event that is parsed already.
  [[nodiscard]] const KinetoEvent* read(simdjson::ondemand::object object);

 private:
  void clear();
  bool read_members(simdjson::ondemand::object object);
  bool read_arg(std::string_view key, simdjson::ondemand::value& value);

  JsonParser json_;
  KinetoEvent event_;
};

}  // namespace ridgeline::timeline
