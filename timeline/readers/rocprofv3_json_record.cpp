#include "timeline/readers/rocprofv3_json_record.hpp"

namespace ridgeline::timeline {
namespace {

namespace ondemand = simdjson::ondemand;

/// A member of an object, as a whole number; or the value itself where it is one.
std::int64_t member_of(ondemand::value& value, std::string_view wanted, std::int64_t otherwise) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return integer_of(value).value_or(otherwise);
  std::int64_t found = otherwise;
  static_cast<void>(for_each_member(object, [&](std::string_view key, ondemand::value& v) {
    if (key == wanted) found = integer_of(v).value_or(otherwise);
    return true;
  }));
  return found;
}

std::int64_t handle_of(ondemand::value& value) { return member_of(value, "handle", -1); }

std::array<std::int64_t, 3> sizes_of(ondemand::value& value) {
  std::array<std::int64_t, 3> sizes{};
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return sizes;
  static_cast<void>(for_each_member(object, [&](std::string_view key, ondemand::value& v) {
    if (key.size() == 1 && key[0] >= 'x' && key[0] <= 'z')
      sizes[static_cast<std::size_t>(key[0] - 'x')] = integer_of(v).value_or(0);
    return true;
  }));
  return sizes;
}

void read_counters(ondemand::value& value, RocprofRecord& record) {
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return;
  for (auto item : list) {
    ondemand::object object;
    if (item.get_object().get(object) != simdjson::SUCCESS) return;
    std::int64_t handle = -1;
    std::optional<double> number;
    if (!for_each_member(object, [&](std::string_view key, ondemand::value& v) {
          if (key == "counter_id") handle = handle_of(v);
          if (key == "value" || key == "counter_value") number = real_of(v);
          return true;
        })) {
      return;
    }
    if (number) record.counters.emplace_back(handle, *number);
  }
}

/// Which of a symbol's names is shown: the later, the rather.
constexpr std::string_view kNames[] = {"kernel_name", "name", "truncated_kernel_name",
                                       "demangled_kernel_name", "formatted_kernel_name"};

class Members {
 public:
  explicit Members(RocprofRecord& record) : r_(record) {}

  bool read(ondemand::object object) {
    return for_each_member(
        object, [&](std::string_view key, ondemand::value& value) { return take(key, value); });
  }

 private:
  bool take(std::string_view key, ondemand::value& value) {
    if (key == "dispatch_data" ||
        key == "dispatch_info") {  // the second within the first, or alone
      ondemand::object nested;
      if (depth_ == kDeepest || value.get_object().get(nested) != simdjson::SUCCESS) return true;
      ++depth_;
      const bool whole = read(nested);
      --depth_;
      return whole;
    }
    if (key == "correlation_id") {
      ondemand::object ids;
      if (value.get_object().get(ids) != simdjson::SUCCESS) {
        r_.correlation = integer_of(value).value_or(0);
        return true;
      }
      return for_each_member(ids, [&](std::string_view id, ondemand::value& v) {
        if (id == "internal") r_.correlation = integer_of(v).value_or(0);
        if (id == "external") r_.external = member_of(v, "value", 0);
        return true;
      });
    }
    if (key == "kind") r_.kind = integer_of(value).value_or(-1);
    if (key == "operation") r_.operation = integer_of(value).value_or(-1);
    if (key == "thread_id") r_.thread = integer_of(value).value_or(0);
    if (key == "start_timestamp") r_.start = integer_of(value).value_or(0);
    if (key == "end_timestamp") r_.end = integer_of(value).value_or(0);
    if (key == "agent_id") r_.agent = handle_of(value);
    if (key == "src_agent_id") r_.source = handle_of(value);
    if (key == "dst_agent_id") r_.target = handle_of(value);
    if (key == "queue_id") r_.queue = handle_of(value);
    if (key == "stream_id") r_.stream = handle_of(value);
    if (key == "kernel_id") r_.kernel = integer_of(value).value_or(-1);
    if (key == "dispatch_id") r_.dispatch = integer_of(value).value_or(-1);
    if (key == "bytes" || key == "allocation_size") r_.bytes = integer_of(value).value_or(-1);
    if (key == "grid_size") r_.grid = sizes_of(value);
    if (key == "workgroup_size") r_.workgroup = sizes_of(value);
    if (key == "records") read_counters(value, r_);
    if (key == "id") r_.id = handle_of(value);
    if (key == "type") r_.type = integer_of(value).value_or(0);
    if (key == "node_id") r_.node = integer_of(value).value_or(-1);
    if (key == "cu_count") r_.compute_units = integer_of(value).value_or(0);
    if (key == "wave_front_size") r_.wave_size = integer_of(value).value_or(64);
    if (key == "product_name") r_.product = string_of(value);
    if (key == "key") r_.key = integer_of(value).value_or(0);
    if (key == "value") r_.value = string_of(value);
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      if (key != kNames[i] || i < rank_) continue;
      const std::string_view name = string_of(value);
      if (name.empty()) continue;
      r_.name = name;
      rank_ = i;
    }
    return true;
  }

  static constexpr int kDeepest = 2;
  RocprofRecord& r_;
  std::size_t rank_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<RocprofRecord> read_rocprof_record(JsonParser& json, std::string_view text) {
  ondemand::document document;
  ondemand::object object;
  if (json.parse(text).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS)
    return std::nullopt;
  RocprofRecord record;
  if (!Members(record).read(object)) return std::nullopt;
  return record;
}

RocprofKind read_rocprof_kind(JsonParser& json, std::string_view text) {
  RocprofKind kind;
  ondemand::document document;
  ondemand::object object;
  if (json.parse(text).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS)
    return kind;
  static_cast<void>(for_each_member(object, [&](std::string_view key, ondemand::value& value) {
    ondemand::array list;
    if (key == "kind") kind.kind = string_of(value);
    if (key != "operations" || value.get_array().get(list) != simdjson::SUCCESS) return true;
    for (auto item : list) {
      ondemand::value operation;
      if (item.get(operation) != simdjson::SUCCESS) return false;
      kind.operations.emplace_back(string_of(operation));
    }
    return true;
  }));
  return kind;
}

}  // namespace ridgeline::timeline
