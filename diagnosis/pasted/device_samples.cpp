#include "diagnosis/pasted/device_samples.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

struct Part {
  std::string DeviceSample::*value;
  std::string_view key;
};
constexpr std::array<Part, 8> kParts{{{&DeviceSample::busy_fraction, "profile.busy_fraction"},
                                      {&DeviceSample::power, "machine.power"},
                                      {&DeviceSample::power_limit, "machine.power_limit"},
                                      {&DeviceSample::clock, "machine.clock"},
                                      {&DeviceSample::memory_clock, "machine.memory_clock"},
                                      {&DeviceSample::used, "memory.used"},
                                      {&DeviceSample::total, "memory.total"},
                                      {&DeviceSample::used_fraction, "memory.used_fraction"}}};

}  // namespace

void DeviceSamples::add(DeviceSample sample, const Line& line) {
  taken_.push_back({std::move(sample), std::string(line.text), line.number});
}

void DeviceSamples::finish(std::string_view name, Findings& out) const {
  const auto is_busy = [](const Taken& t) { return t.sample.busy.value_or(0.0) > 0.0; };
  const bool some_busy = std::any_of(taken_.begin(), taken_.end(), is_busy);
  std::size_t idle = 0;
  std::vector<const Taken*> counted;
  for (const Taken& t : taken_) {
    if (some_busy && t.sample.busy && !is_busy(t)) {
      ++idle;
    } else {
      counted.push_back(&t);
    }
  }
  if (counted.size() > 1)
    out.facts.note(fmt::format("{}: {} devices or moments; the middle of each figure is taken",
                               name, counted.size()));
  if (idle > 0) out.facts.note(fmt::format("{}: idle devices or moments left out: {}", name, idle));
  for (const Part& part : kParts) {
    std::vector<std::pair<double, const Taken*>> values;
    for (const Taken* t : counted) {
      if (const auto number = number_at(t->sample.*part.value))
        values.emplace_back(number->value, t);
    }
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->number < b.second->number;
    });
    Line line;
    line.text = middle->second->text;
    line.number = middle->second->number;
    out.facts.add(part.key, middle->second->sample.*part.value, line, Source::sampled);
  }
}

}  // namespace ridgeline::diagnosis::pasted
