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
    if (cat == c.name) return c.category;
  }
  for (const CategoryName& c : kCategories) {
    if (same_letters(cat, c.name)) return c.category;
  }
  return Category::other;
}

/// [12, 1, 1]; all 0 for anything else. False if it is damaged.
bool read_sizes(ondemand::value& value, std::array<std::int64_t, 3>& out) {
  out = {};
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return true;
  std::array<std::int64_t, 3> sizes{};
  std::size_t count = 0;
  const bool whole = for_each_element(list, [&](ondemand::value& size) {
    const std::int64_t n = integer_of(size).value_or(0);
    if (n > 0 && count < sizes.size()) sizes[count] = n;
    count += n > 0 ? 1 : sizes.size() + 1;
    return true;
  });
  if (whole && count == sizes.size()) out = sizes;
  return whole;
}

/// The shapes of an operator's inputs: a list of dimensions each, of a list of tensors a list of
/// those, which is laid out in place.
bool read_shapes(ondemand::array inputs, std::vector<std::vector<std::int64_t>>& out) {
  return for_each_element(inputs, [&](ondemand::value& input) {
    ondemand::array list;
    if (input.get_array().get(list) != simdjson::SUCCESS) return true;  // not a shape
    std::vector<std::int64_t> shape;
    bool of_tensors = false;
    const bool whole = for_each_element(list, [&](ondemand::value& dimension) {
      ondemand::array tensor;
      if (dimension.get_array().get(tensor) == simdjson::SUCCESS) {
        of_tensors = true;
        std::vector<std::int64_t>& dims = out.emplace_back();
        return for_each_element(tensor, [&](ondemand::value& size) {
          if (const auto n = integer_of(size)) dims.push_back(*n);
          return true;
        });
      }
      if (const auto n = integer_of(dimension)) shape.push_back(*n);
      return true;
    });
    if (!of_tensors) out.push_back(std::move(shape));
    return whole;
  });
}

/// A process or thread: a number, a number in a string, "stream 7".
std::int64_t track_in(std::string_view text) {
  if (const auto n = integer_in(text)) return *n;
  const std::size_t space = text.rfind(' ');
  return space == std::string_view::npos ? 0 : integer_in(text.substr(space + 1)).value_or(0);
}

}  // namespace

void KinetoEventReader::clear() {
  auto shapes = std::move(event_.shapes);  // keep what they have allocated
  auto series = std::move(event_.series);
  event_ = {};
  shapes.clear();
  series.clear();
  event_.shapes = std::move(shapes);
  event_.series = std::move(series);
}

const KinetoEvent* KinetoEventReader::read(std::string_view text) {
  ondemand::document document;
  ondemand::object object;
  if (json_.parse(text).get(document) != simdjson::SUCCESS) return nullptr;
  if (document.get_object().get(object) != simdjson::SUCCESS) return nullptr;
  return read(object);
}

const KinetoEvent* KinetoEventReader::read(ondemand::object object) {
  clear();
  return read_members(object) ? &event_ : nullptr;
}

bool KinetoEventReader::read_members(ondemand::object object) {
  // Numbers as written until the event turns out to be of use: arrows have their category last.
  std::string_view start;
  std::string_view duration;
  std::string_view process;
  std::string_view thread;
  std::string_view id;
  bool of_use = true;
  const bool whole = for_each_member(object, [&](std::string_view key, ondemand::value& value) {
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
      start = value.raw_json_token();
    } else if (key == "dur") {
      duration = value.raw_json_token();
    } else if (key == "pid") {
      process = value.raw_json_token();
    } else if (key == "tid") {
      thread = value.raw_json_token();
    } else if (key == "id") {
      id = value.raw_json_token();
    } else if (key == "args") {
      ondemand::object args;
      if (value.get_object().get(args) != simdjson::SUCCESS) return true;
      return for_each_member(
          args, [&](std::string_view arg, ondemand::value& given) { return read_arg(arg, given); });
    }
    return of_use;
  });
  if (!of_use) return true;
  if (!whole) return false;
  event_.start_ns = nanoseconds_in(bare(start));
  event_.duration_ns = nanoseconds_in(bare(duration));
  event_.process = track_in(bare(process));
  event_.thread = track_in(bare(thread));
  event_.id = integer_in(bare(id)).value_or(0);
  return true;
}

bool KinetoEventReader::read_arg(std::string_view key, ondemand::value& value) {
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
    return read_sizes(value, event_.grid);
  } else if (key == "block") {
    return read_sizes(value, event_.block);
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
    if (value.get_array().get(types) == simdjson::SUCCESS) {
      return for_each_element(types, [&](ondemand::value& type) {
        if (event_.dtype.empty()) event_.dtype = string_of(type);
        return true;
      });
    }
  }
  return true;
}

}  // namespace ridgeline::timeline
