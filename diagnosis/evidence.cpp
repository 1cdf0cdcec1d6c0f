#include "diagnosis/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/fixes/table.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;
using core::Reader;

#define RIDGELINE_FIELD(section, key, dimension, whole)      \
  Field {                                                    \
#section, #key, Dimension::dimension, whole,             \
        [](Evidence & e) -> Maybe& { return e.section.key; } \
  }

const std::vector<core::Choice<Arrivals>> kArrivals{{"one_at_a_time", Arrivals::one_at_a_time},
                                                    {"open", Arrivals::open},
                                                    {"saturated", Arrivals::saturated}};
const std::vector<core::Choice<Window>> kWindows{
    {"decode", Window::decode}, {"prefill", Window::prefill}, {"training", Window::training}};

/// "160 tokens/s" is how people write a rate that core knows as "160 /s". Only what is counted here
/// may stand before the stroke.
std::string without_nouns(std::string text) {
  for (const std::string_view noun : {"tokens", "token", "tok"}) {
    if (const std::size_t at = text.find(std::string(noun) + "/"); at != std::string::npos)
      return text.erase(at, noun.size());
  }
  return text;
}

/// Quantities that can be nothing; all others divide something.
bool may_be_zero(std::string_view key, Dimension dimension) {
  for (const std::string_view name : {"waiting", "preemptions", "gap_length", "gap_time",
                                      "host_time", "transient", "prefill_tokens_per_step"}) {
    if (key == name) return true;
  }
  return dimension == Dimension::fraction;
}

// Far around everything that is measured on a server, in SI units, so that nothing computed from it
// overflows.
constexpr double kLeast = 1e-12;
constexpr double kMost = 1e18;

Value read_value(const Reader& in, std::string_view key, Dimension dimension, bool whole) {
  const bool zero = may_be_zero(key, dimension);
  const std::string expected =
      dimension == Dimension::rate
          ? "a rate like '160 tokens/s'"
          : core::expected_text(dimension) + " (a range 'a-b', '~a' and '=a' are understood)";
  const std::string& written = in.scalar(key, expected);
  const std::string text = dimension == Dimension::rate ? without_nouns(written) : written;
  core::Interval bounds;
  if (const auto exact = whole ? core::parse_quantity(text, dimension) : std::nullopt) {
    in.require(*exact == std::floor(*exact), key,
               zero ? "a whole number of zero or more" : "a whole number above zero");
    bounds = core::Interval(*exact);
  } else if (const auto typed = core::parse_interval(text, dimension)) {
    bounds = *typed;
  } else {
    in.fail(key, expected);
  }
  const double middle = bounds.middle();
  if (dimension == Dimension::fraction) {
    if (middle < 0.0 || middle > 1.0)
      in.fail(key, "a fraction between 0 and 1", core::per_cent_hint(text));
    bounds = core::clamp(bounds, 0.0, 1.0);
  } else {
    in.require(zero ? middle >= 0.0 : middle > 0.0, key,
               zero ? "zero or more" : "a value above zero");
    in.require(middle <= kMost && (middle == 0.0 || middle >= kLeast), key,
               "a value from 1e-12 to 1e18");
    bounds.low = std::max(bounds.low, 0.0);
  }
  const std::string path =
      in.path().empty() ? std::string(key) : in.path() + "." + std::string(key);
  return {bounds, std::clamp(middle, bounds.low, bounds.high), Origin::given, path};
}

hw::Dtype read_dtype(const Reader& in, std::string_view key) {
  return in.choice(key, hw::dtype_names());
}

Machine read_machine(const Reader& root, const core::ConfigLibrary& library) {
  const core::Node* node = root.node().find("machine");
  if (node->kind != core::Node::Kind::map || node->find("base") != nullptr) {
    const core::Node node_of_gpu = library.resolve("hw", root.raw("machine"), "machine");
    const Reader gpu(node_of_gpu, "machine");
    const Machine machine = machine_from(hw::read_gpu_spec(gpu));
    gpu.finish();
    return machine;
  }
  const Reader in = root.child("machine");
  Machine machine;
  machine.name = in.get<std::string>("name", "");
  if (in.has("peak")) {
    const Reader peak = in.child("peak");
    for (const std::string& key : peak.keys()) {
      std::vector<std::string> names;
      std::optional<hw::Dtype> dtype;
      for (const auto& choice : hw::dtype_names()) {
        names.emplace_back(choice.name);
        if (choice.name == key) dtype = choice.value;
      }
      if (!dtype) peak.reject_key(key, "unknown dtype" + core::suggestion(key, names));
      machine.peak.emplace(*dtype, read_value(peak, key, Dimension::flop_per_second, false));
    }
  }
  return machine;
}

Model read_model(const Reader& root, const ModelByName& model_by_name) {
  if (root.node().find("model")->kind != core::Node::Kind::map) {
    if (!model_by_name)
      root.fail("model", "a map of facts (parameters, weight_bytes, layers, ...)");
    return model_by_name(root.raw("model"));
  }
  const Reader in = root.child("model");
  Model model;
  model.name = in.get<std::string>("name", "");
  if (in.has("weight_dtype")) model.weight_dtype = read_dtype(in, "weight_dtype");
  if (in.has("activation_dtype")) model.activation_dtype = read_dtype(in, "activation_dtype");
  if (in.has("kv_cache_dtype")) model.kv_cache_dtype = read_dtype(in, "kv_cache_dtype");
  return model;
}

void read_kernel_time(const Reader& profile, Profile& out) {
  const Reader in = profile.child("kernel_time");
  double sum_low = 0.0;
  for (const std::string& key : in.keys()) {
    std::vector<std::string> names(kKernelGroupNames.begin(), kKernelGroupNames.end());
    const auto it = std::find(names.begin(), names.end(), key);
    if (it == names.end())
      in.reject_key(key, "unknown kernel class" + core::suggestion(key, names));
    const Value share = read_value(in, key, Dimension::fraction, false);
    sum_low += share.low();
    out.kernel_time.emplace(static_cast<KernelGroup>(it - names.begin()), share);
  }
  if (sum_low > 1.0)
    profile.reject("kernel_time",
                   fmt::format("the shares add up to at least {:.0f} %, more than all of it",
                               100.0 * sum_low));
}

}  // namespace

const std::vector<Field>& evidence_fields() {
  static const std::vector<Field> fields{
      RIDGELINE_FIELD(machine, hbm_bandwidth, bytes_per_second, false),
      RIDGELINE_FIELD(machine, hbm_capacity, bytes, false),
      RIDGELINE_FIELD(machine, devices, none, true),
      RIDGELINE_FIELD(model, parameters, none, false),
      RIDGELINE_FIELD(model, active_parameters, none, false),
      RIDGELINE_FIELD(model, weight_bytes, bytes, false),
      RIDGELINE_FIELD(model, layers, none, true),
      RIDGELINE_FIELD(model, hidden, none, true),
      RIDGELINE_FIELD(model, heads, none, true),
      RIDGELINE_FIELD(model, kv_heads, none, true),
      RIDGELINE_FIELD(model, head_dim, none, true),
      RIDGELINE_FIELD(serving, concurrency, none, true),
      RIDGELINE_FIELD(serving, prompt_tokens, none, true),
      RIDGELINE_FIELD(serving, output_tokens, none, true),
      RIDGELINE_FIELD(serving, context_tokens, none, true),
      RIDGELINE_FIELD(serving, kv_bytes_per_sequence, bytes, false),
      RIDGELINE_FIELD(serving, microbatch, none, true),
      RIDGELINE_FIELD(serving, sequence_tokens, none, true),
      RIDGELINE_FIELD(serving, prefill_tokens_per_step, none, false),
      RIDGELINE_FIELD(serving, kv_usage, fraction, false),
      RIDGELINE_FIELD(serving, waiting, none, true),
      RIDGELINE_FIELD(serving, preemptions, none, true),
      RIDGELINE_FIELD(measured, throughput, rate, false),
      RIDGELINE_FIELD(measured, throughput_per_sequence, rate, false),
      RIDGELINE_FIELD(measured, ttft, time, false),
      RIDGELINE_FIELD(measured, itl, time, false),
      RIDGELINE_FIELD(measured, step_time, time, false),
      RIDGELINE_FIELD(profile, flop_fraction, fraction, false),
      RIDGELINE_FIELD(profile, useful_flop_fraction, fraction, false),
      RIDGELINE_FIELD(profile, hbm_fraction, fraction, false),
      RIDGELINE_FIELD(profile, kernels_per_step, none, true),
      RIDGELINE_FIELD(profile, kernel_length, time, false),
      RIDGELINE_FIELD(profile, gap_length, time, false),
      RIDGELINE_FIELD(profile, transient, bytes, false),
      RIDGELINE_FIELD(profile, gemm_rows, none, true),
      RIDGELINE_FIELD(profile, busy_time, time, false),
      RIDGELINE_FIELD(profile, gap_time, time, false),
      RIDGELINE_FIELD(profile, host_time, time, false),
      RIDGELINE_FIELD(profile, idle_fraction, fraction, false),
  };
  return fields;
}

Machine machine_from(const hw::GpuSpec& gpu) {
  Machine machine;
  machine.name = gpu.name;
  machine.datasheet = true;
  machine.hbm_bandwidth = read_exactly(gpu.hbm.bandwidth.value(), "machine");
  machine.hbm_capacity = read_exactly(gpu.hbm.capacity.value(), "machine");
  for (const auto& dtype : hw::dtype_names()) {
    if (!gpu.supports(dtype.value)) continue;
    machine.peak.emplace(dtype.value, read_exactly(gpu.peak[dtype.value].value(), "machine"));
    if (gpu.sustained[dtype.value] > 0.0)
      machine.peak_sustained.emplace(dtype.value, gpu.sustained[dtype.value]);
  }
  machine.hbm_sustained = gpu.hbm.sustained;
  return machine;
}

Evidence read_evidence(const core::Node& document, const core::ConfigLibrary& library,
                       const ModelByName& model_by_name) {
  const Reader in(document);
  Evidence evidence;
  evidence.title = in.get<std::string>("title", "");
  if (in.has("machine")) evidence.machine = read_machine(in, library);
  if (in.has("model")) evidence.model = read_model(in, model_by_name);

  bool any = in.has("machine") && evidence.machine.datasheet;
  for (const std::string_view section : {"machine", "model", "serving", "measured", "profile"}) {
    if (!in.has(section) || in.node().find(section)->kind != core::Node::Kind::map) {
      if (in.has(section) && section != "machine" && section != "model") in.fail(section, "a map");
      continue;
    }
    if (section == "machine" && evidence.machine.datasheet) {
      continue;  // a base with a map laid over it: its keys are those of a machine file
    }
    const Reader part = in.child(section);
    for (const Field& field : evidence_fields()) {
      if (field.section != section || !part.has(field.key)) continue;
      field.at(evidence) = read_value(part, field.key, field.dimension, field.whole);
      any = true;
    }
    if (section == "serving" && part.has("arrivals"))
      evidence.serving.arrivals = part.choice("arrivals", kArrivals);
    if (section == "profile") {
      if (part.has("window")) evidence.profile.window = part.choice("window", kWindows);
      if (part.has("kernel_time")) read_kernel_time(part, evidence.profile);
      any = any || !evidence.profile.kernel_time.empty();
    }
  }
  if (in.has("devices"))
    evidence.machine.devices = read_value(in, "devices", Dimension::none, true);
  if (in.has("proposals")) {
    evidence.proposals = in.words("proposals");
    for (const std::string& name : evidence.proposals) {
      if (find_fix(name) == nullptr)
        in.reject("proposals", "unknown fix '" + name + "'" + core::suggestion(name, fix_names()));
    }
  }
  in.finish();
  if (!any) {
    throw core::ConfigError(document.position.text() +
                            ": document: expected at least one fact (machine, model, serving, "
                            "measured or profile), got none");
  }
  return evidence;
}

Evidence load_evidence(const std::filesystem::path& path, const core::ConfigLibrary& library,
                       const ModelByName& model_by_name) {
  return read_evidence(core::load_yaml(path), library, model_by_name);
}

void require_sensible(const Evidence& evidence) {
  const auto check = [](std::string_view section, std::string_view key, Dimension dimension,
                        const Value& value) {
    const bool zero = may_be_zero(key, dimension);
    const bool sensible = std::isfinite(value.low()) && std::isfinite(value.high()) &&
                          std::isfinite(value.best) && value.low() >= 0.0 &&
                          value.low() <= value.best && value.best <= value.high() &&
                          (zero || value.best > 0.0);
    if (!sensible) {
      throw core::ConfigError(fmt::format("{}.{}: expected a finite value {}, got {:g} to {:g}",
                                          section, key, zero ? "of zero or more" : "above zero",
                                          value.low(), value.high()));
    }
  };
  Evidence copy = evidence;  // the table of fields hands out references that may be written through
  for (const Field& field : evidence_fields()) {
    if (const Maybe& value = field.at(copy))
      check(field.section, field.key, field.dimension, *value);
  }
  for (const auto& [group, share] : evidence.profile.kernel_time)
    check("profile.kernel_time", name_of(group), Dimension::fraction, share);
  for (const auto& [dtype, rate] : evidence.machine.peak)
    check("machine.peak", hw::name_of(dtype), Dimension::flop_per_second, rate);
}

}  // namespace ridgeline::diagnosis
