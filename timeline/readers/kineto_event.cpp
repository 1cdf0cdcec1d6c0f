#include "timeline/readers/kineto_event.hpp"

#include <algorithm>
#include <cctype>

namespace ridgeline::timeline {
namespace {

using Category = KinetoEvent::Category;
namespace ondemand = simdjson::ondemand;

struct CategoryName {
  std::string_view name;
  Category category;
};

constexpr CategoryName kCategories[] = {
    {"python_function", Category::other},  // most events of a recording with stacks: found first
    {"cpu_op", Category::op},
    {"operator", Category::op},
    {"kernel", Category::kernel},
    {"gpu_memcpy", Category::copy},
    {"memcpy", Category::copy},
    {"gpu_memset", Category::set},
    {"memset", Category::set},
    {"cuda_runtime", Category::runtime},
    {"cuda_driver", Category::runtime},
    {"hip_runtime", Category::runtime},
    {"hip_driver", Category::runtime},
    {"runtime", Category::runtime},
    {"user_annotation", Category::annotation},
    {"gpu_user_annotation", Category::device_annotation},
    {"api_op",
     Category::none},  // rpd2tracing's arrows, the only events of that writer that have a category
    {"server", Category::none},  // counters of ours
};

bool same_letters(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == static_cast<unsigned char>(y);
         });
}

Category category_of(std::string_view cat) {
  if (cat.empty()) return Category::none;
  for (const CategoryName& c : kCategories) {
    if (same_letters(cat, c.name)) return c.category;
  }
  return Category::other;
}

/// [12, 1, 1]; all 0 for anything else.
std::array<std::int64_t, 3> sizes_of(ondemand::value value) {
  std::array<std::int64_t, 3> out{};
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return out;
  std::size_t i = 0;
  for (auto item : list) {
    ondemand::value size;
    if (item.get(size) != simdjson::SUCCESS) return {};
    const auto n = integer_of(size);
    if (!n || *n <= 0 || i >= out.size()) return {};
    out[i++] = *n;
  }
  return i == out.size() ? out : std::array<std::int64_t, 3>{};
}

/// The shapes of an operator's inputs: a list of dimensions each, of a list of tensors a list of
/// those, which is laid out in place.
bool read_shapes(ondemand::array inputs, std::vector<std::vector<std::int64_t>>& out) {
  for (auto item : inputs) {
    ondemand::value value;
    ondemand::array list;
    if (item.get(value) != simdjson::SUCCESS) return false;
    if (value.get_array().get(list) != simdjson::SUCCESS) continue;  // not a shape
    std::vector<std::int64_t> shape;
    bool of_tensors = false;
    for (auto dimension : list) {
      ondemand::value d;
      if (dimension.get(d) != simdjson::SUCCESS) return false;
      ondemand::array tensor;
      if (d.get_array().get(tensor) == simdjson::SUCCESS) {
        of_tensors = true;
        std::vector<std::int64_t> dims;
        for (auto each : tensor) {
          ondemand::value n;
          if (each.get(n) != simdjson::SUCCESS) return false;
          if (const auto size = integer_of(n)) dims.push_back(*size);
        }
        out.push_back(std::move(dims));
      } else if (const auto n = integer_of(d)) {
        shape.push_back(*n);
      }
    }
    if (!of_tensors) out.push_back(std::move(shape));
  }
  return true;
}

/// A process or thread: a number, a number in a string, "stream 7".
std::int64_t track_of(ondemand::value value) {
  const std::string_view text = bare(value.raw_json_token());
  if (const auto n = integer_in(text)) return *n;
  const std::size_t space = text.rfind(' ');
  return space == std::string_view::npos ? 0 : integer_in(text.substr(space + 1)).value_or(0);
}

}  // namespace

const KinetoEvent* KinetoEventReader::read(std::string_view text) {
  auto shapes = std::move(event_.shapes);  // keep what they have allocated
  auto series = std::move(event_.series);
  event_ = {};
  shapes.clear();
  series.clear();
  event_.shapes = std::move(shapes);
  event_.series = std::move(series);

  ondemand::document document;
  ondemand::object object;
  if (json_.parse(text).get(document) != simdjson::SUCCESS) return nullptr;
  if (document.get_object().get(object) != simdjson::SUCCESS) return nullptr;
  return read_members(object) ? &event_ : nullptr;
}

bool KinetoEventReader::read_members(ondemand::object object) {
  bool of_use = true;
  const bool whole = for_each_member(object, [&](std::string_view key, ondemand::value value) {
    if (key == "ph") {
      const std::string_view phase = string_of(value);
      event_.phase = phase.size() == 1 ? phase.front() : '?';
      of_use = std::string_view("XCMsf").find(event_.phase) != std::string_view::npos;
    } else if (key == "cat") {
      event_.category = category_of(string_of(value));
      of_use = event_.category != Category::other;
    } else if (key == "name") {
      event_.name = string_of(value);
    } else if (key == "ts") {
      event_.start_ns = microseconds_of(value);
    } else if (key == "dur") {
      event_.duration_ns = microseconds_of(value);
    } else if (key == "pid") {
      event_.process = track_of(value);
    } else if (key == "tid") {
      event_.thread = track_of(value);
    } else if (key == "id") {
      event_.id = integer_of(value).value_or(0);
    } else if (key == "args") {
      ondemand::object args;
      if (value.get_object().get(args) != simdjson::SUCCESS) return true;
      return for_each_member(
          args, [&](std::string_view arg, ondemand::value given) { return read_arg(arg, given); });
    }
    return of_use;
  });
  return whole || !of_use;
}

bool KinetoEventReader::read_arg(std::string_view key, ondemand::value value) {
  if (event_.phase == 'C') {
    if (const auto number = real_of(value)) event_.series.emplace_back(key, *number);
    return true;
  }
  if (key == "correlation") {
    event_.correlation = integer_of(value).value_or(0);
  } else if (key == "External id" || key == "external id") {
    event_.external_id = integer_of(value).value_or(0);
  } else if (key == "device") {
    event_.device = integer_of(value);
  } else if (key == "stream") {
    event_.stream = integer_of(value);
  } else if (key == "kind") {
    event_.kind = bare(value.raw_json_token());
  } else if (key == "bytes" || key == "size") {
    event_.bytes = integer_of(value).value_or(-1);
  } else if (key == "grid") {
    event_.grid = sizes_of(value);
  } else if (key == "block") {
    event_.block = sizes_of(value);
  } else if (key == "graph id") {
    event_.graph = integer_of(value).value_or(0);
  } else if (key == "desc") {
    event_.description = string_of(value);
  } else if (key == "name") {
    event_.label = string_of(value);
  } else if (key == "Input Dims") {
    ondemand::array inputs;
    event_.shapes.clear();
    if (value.get_array().get(inputs) == simdjson::SUCCESS)
      return read_shapes(inputs, event_.shapes);
  } else if (key == "Input type") {
    ondemand::array types;
    ondemand::value first;
    if (value.get_array().get(types) == simdjson::SUCCESS) {
      for (auto type : types) {
        if (type.get(first) != simdjson::SUCCESS) return false;
        if (event_.dtype.empty()) event_.dtype = string_of(first);
      }
    }
  }
  return true;
}

}  // namespace ridgeline::timeline
