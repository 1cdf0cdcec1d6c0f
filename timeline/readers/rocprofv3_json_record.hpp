#pragma once
// One record of rocprofv3's JSON, whatever its kind: the keys that anything here asks for, wherever
// the releases nest them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timeline/readers/json_value.hpp"

namespace ridgeline::timeline {

struct RocprofRecord {
  std::int64_t kind = -1;
  std::int64_t operation = -1;
  std::int64_t thread = 0;
  std::int64_t correlation = 0;
  std::int64_t external = 0;
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;
  std::int64_t agent = -1;  // handles
  std::int64_t source = -1;
  std::int64_t target = -1;
  std::int64_t queue = 0;
  std::optional<std::int64_t> stream;
  std::int64_t kernel = -1;
  std::int64_t dispatch = -1;
  std::int64_t bytes = -1;
  std::array<std::int64_t, 3> grid{};  // threads
  std::array<std::int64_t, 3> workgroup{};
  std::vector<std::pair<std::int64_t, double>> counters;  // handle, value; once an instance

  // Of a symbol, an agent, a counter.
  std::int64_t id = -1;
  std::int64_t type = 0;
  std::int64_t node = -1;
  std::int64_t compute_units = 0;
  std::int64_t wave_size = 64;
  std::string name;  // the nicest that it has
  std::string product;
  std::int64_t key = 0;  // of a string by number
  std::string value;
};

/// Nothing if the text is damaged.
[[nodiscard]] std::optional<RocprofRecord> read_rocprof_record(JsonParser& json,
                                                               std::string_view text);

/// The names of one kind's operations, from strings.buffer_records.
struct RocprofKind {
  std::string kind;
  std::vector<std::string> operations;
};
[[nodiscard]] RocprofKind read_rocprof_kind(JsonParser& json, std::string_view text);

}  // namespace ridgeline::timeline
