#include "diagnosis/evidence_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;
using core::Node;

Node scalar(std::string text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.scalar = std::move(text);
  return node;
}

Node map() {
  Node node;
  node.kind = Node::Kind::map;
  return node;
}

void put(Node& in, std::string_view key, Node value) {
  in.entries.emplace_back(std::string(key), std::move(value));
}
void put(Node& in, std::string_view key, std::string_view text) {
  if (!text.empty()) put(in, key, scalar(std::string(text)));
}

std::string_view name_of_si_unit(Dimension dimension) {
  for (const core::UnitScale& unit : core::units_of(dimension)) {
    if (unit.factor == 1.0) return unit.name;
  }
  return "";
}

/// Of the units in powers of ten, the largest that leaves a number of one or more; the SI unit for
/// what is smaller than all of them.
core::UnitScale readable_unit(double size, Dimension dimension) {
  core::UnitScale best{name_of_si_unit(dimension), 1.0};
  bool found = false;
  for (const core::UnitScale& unit : core::units_of(dimension)) {
    const double digits = std::log10(unit.factor);
    if (digits != std::round(digits) || size < unit.factor || dimension == Dimension::fraction)
      continue;
    if (!found || unit.factor > best.factor) best = unit;
    found = true;
  }
  return best;
}

std::string text_of(const Value& value, Dimension dimension, bool whole) {
  constexpr double kMostDigits = 1e15;  // a double counts no further one by one
  const double x = value.interval.low;
  if (whole && x == value.interval.high && x == std::floor(x) && x < kMostDigits)
    return fmt::format("{:.0f}", x);
  return exact_text(value.interval, dimension);
}

Node section_of(const Evidence& evidence, std::string_view section) {
  Node out = map();
  Evidence copy = evidence;  // the table of fields hands out references that may be written through
  for (const Field& field : evidence_fields()) {
    if (field.section != section) continue;
    if (const Maybe& value = field.at(copy))
      put(out, field.key, text_of(*value, field.dimension, field.whole));
  }
  return out;
}

Node machine_of(const Evidence& evidence) {
  Node out = section_of(evidence, "machine");
  std::erase_if(out.entries, [](const auto& entry) { return entry.first == "devices"; });
  put(out, "name", evidence.machine.name);
  if (evidence.machine.peak.empty()) return out;
  Node peak = map();
  for (const auto& [dtype, rate] : evidence.machine.peak)
    put(peak, hw::name_of(dtype), text_of(rate, Dimension::flop_per_second, false));
  put(out, "peak", std::move(peak));
  return out;
}

Node model_of(const Evidence& evidence) {
  Node out = section_of(evidence, "model");
  const Model& model = evidence.model;
  put(out, "name", model.name);
  if (model.weight_dtype) put(out, "weight_dtype", hw::name_of(*model.weight_dtype));
  if (model.activation_dtype) put(out, "activation_dtype", hw::name_of(*model.activation_dtype));
  if (model.kv_cache_dtype) put(out, "kv_cache_dtype", hw::name_of(*model.kv_cache_dtype));
  return out;
}

/// Shares that rounding has brought above all of it, the largest cut back by that.
std::map<KernelGroup, Value> with_sum_of_one(std::map<KernelGroup, Value> shares) {
  const auto sum = [&shares] {
    double total = 0.0;
    for (const auto& [group, share] : shares) total += share.low();
    return total;
  };
  constexpr double kRounding = 1e-12;
  const auto largest = std::max_element(
      shares.begin(), shares.end(),
      [](const auto& a, const auto& b) { return a.second.low() < b.second.low(); });
  while (sum() > 1.0 && sum() <= 1.0 + kRounding) {
    const bool exact = largest->second.low() == largest->second.high();
    double& low = largest->second.interval.low;
    low = std::nextafter(low, 0.0);
    if (exact) largest->second.interval.high = low;
  }
  return shares;
}

Node profile_of(const Evidence& evidence) {
  Node out = section_of(evidence, "profile");
  if (evidence.profile.window) put(out, "window", name_of(*evidence.profile.window));
  if (evidence.profile.kernel_time.empty()) return out;
  Node shares = map();
  for (const auto& [group, share] : with_sum_of_one(evidence.profile.kernel_time))
    put(shares, name_of(group), text_of(share, Dimension::fraction, false));
  put(out, "kernel_time", std::move(shares));
  return out;
}

Node engine_of(const Evidence& evidence) {
  Node out = section_of(evidence, "engine");
  const Engine& engine = evidence.engine;
  const auto put_flag = [&out](std::string_view key, const std::optional<bool>& flag) {
    if (flag) put(out, key, *flag ? "true" : "false");
  };
  if (!engine.name.empty()) put(out, "name", engine.name);
  put_flag("enforce_eager", engine.enforce_eager);
  put_flag("enable_prefix_caching", engine.enable_prefix_caching);
  put_flag("async_scheduling", engine.async_scheduling);
  return out;
}

/// Of a kernel the sums stand; of a trial what its author would write as a speedup.
Node kernels_of(const Evidence& evidence) {
  Node out;
  out.kind = Node::Kind::list;
  for (const KernelRow& row : evidence.kernels) {
    Node item = map();
    if (!row.name.empty()) put(item, "name", row.name);
    put(item, "group", name_of(row.group));
    const auto put_value = [&item](std::string_view key, const Maybe& value, Dimension dimension) {
      if (value) put(item, key, text_of(*value, dimension, dimension == Dimension::none));
    };
    put_value("calls", row.calls, Dimension::none);
    put_value("time", row.time, Dimension::time);
    put_value("share", row.share, Dimension::fraction);
    put_value("bytes", row.bytes, Dimension::bytes);
    put_value("flop", row.flop, Dimension::flop);
    put_value("occupied", row.occupied, Dimension::fraction);
    out.items.push_back(std::move(item));
  }
  return out;
}

Node trials_of(const Evidence& evidence) {
  Node out;
  out.kind = Node::Kind::list;
  for (const Trial& trial : evidence.trials) {
    Node item = map();
    put(item, "change", trial.change);
    if (!trial.when.empty()) put(item, "when", trial.when);
    if (trial.with) put(item, "in_place", "true");
    put(item, "speedup", text_of(trial.effects.front().gain, Dimension::none, false));
    out.items.push_back(std::move(item));
  }
  return out;
}

Node words_of(const std::vector<std::string>& words) {
  Node out;
  out.kind = Node::Kind::list;
  for (const std::string& word : words) out.items.push_back(scalar(word));
  return out;
}

}  // namespace

std::string exact_text(core::Interval value, Dimension dimension) {
  const double size = std::max(std::abs(value.low), std::abs(value.high));
  const core::UnitScale unit = readable_unit(size, dimension);
  const std::string_view space = unit.name.empty() ? "" : " ";
  std::string text;
  // As few digits as come back the same: fifteen mostly do, seventeen of the SI unit always.
  for (const int digits : {15, 16, 17}) {
    const auto number = [&](double x) { return fmt::format("{:.{}g}", x / unit.factor, digits); };
    text = value.low == value.high
               ? fmt::format("={}{}{}", number(value.low), space, unit.name)
               : fmt::format("{}-{}{}{}", number(value.low), number(value.high), space, unit.name);
    if (core::parse_interval(text, dimension) == value) return text;
  }
  const std::string_view si = name_of_si_unit(dimension);
  return value.low == value.high ? fmt::format("={:.17g} {}", value.low, si)
                                 : fmt::format("{:.17g}-{:.17g} {}", value.low, value.high, si);
}

core::Node to_document(const Evidence& evidence, const EvidenceNames& names) {
  Node out = map();
  const auto put_if_any = [&out](std::string_view key, Node section) {
    if (!section.entries.empty()) put(out, key, std::move(section));
  };
  put(out, "title", evidence.title);
  if (names.machine) {
    put(out, "machine", *names.machine);
  } else {
    put_if_any("machine", machine_of(evidence));
  }
  if (evidence.machine.devices)
    put(out, "devices", text_of(*evidence.machine.devices, Dimension::none, true));
  if (names.model) {
    put(out, "model", *names.model);
  } else {
    put_if_any("model", model_of(evidence));
  }
  put_if_any("engine", engine_of(evidence));
  Node serving = section_of(evidence, "serving");
  if (evidence.serving.arrivals) put(serving, "arrivals", name_of(*evidence.serving.arrivals));
  put_if_any("serving", std::move(serving));
  put_if_any("memory", section_of(evidence, "memory"));
  put_if_any("measured", section_of(evidence, "measured"));
  put_if_any("profile", profile_of(evidence));
  if (!evidence.kernels.empty()) put(out, "kernels", kernels_of(evidence));
  if (!evidence.trials.empty()) put(out, "trials", trials_of(evidence));
  if (!evidence.symptoms.empty()) put(out, "symptoms", words_of(evidence.symptoms));
  if (!evidence.proposals.empty()) put(out, "proposals", words_of(evidence.proposals));
  return out;
}

std::string to_yaml(const Evidence& evidence, const EvidenceNames& names) {
  return core::to_yaml(to_document(evidence, names));
}

}  // namespace ridgeline::diagnosis
