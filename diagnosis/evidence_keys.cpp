#include "diagnosis/evidence_keys.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/field_guide.hpp"
#include "diagnosis/quantity_reader.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Keys that hold no quantity.
constexpr EvidenceKey kWords[]{
    {"", "title", "for people", "slow chat"},
    {"", "source", "where the numbers are from, for people", "a profile of 3 May"},
    {"", "devices",
     "that share one copy of the model (tensor_parallel_size is another word for it)", "8"},
    {"machine", "base", "a shipped machine by its name; what stands beside it replaces its facts",
     ""},
    {"machine", "name", "of a machine that is not shipped, for people", "a new card"},
    {"machine", "peak", "dense matrix rate of one device, by dtype",
     "{bf16: 312 TFLOP/s, fp8: 624 TFLOP/s}"},
    {"model", "base",
     "a shipped model, a repository's name or the path of a config.json; what stands beside it "
     "replaces its facts",
     ""},
    {"model", "name", "of a model that is not shipped, for people", "a new model"},
    {"model", "weight_dtype", "of the weights as they lie in memory", "fp8"},
    {"model", "activation_dtype", "in which matrices are multiplied", "bf16"},
    {"model", "kv_cache_dtype", "of the KV cache", "fp8"},
    {"engine", "name", "and version, for people", "vllm 0.19"},
    {"engine", "enforce_eager", "true: no graphs are captured", "true"},
    {"engine", "enable_prefix_caching", "", "true"},
    {"engine", "async_scheduling", "true: the host plans the next step while the device runs",
     "true"},
    {"engine", "tensor_parallel_size", "the same as devices", "8"},
    {"serving", "arrivals",
     "one_at_a_time (the next comes when the last is done), open (they come when they come) or "
     "saturated (one more is always waiting)",
     "saturated"},
    {"profile", "window", "what the profile covers: decode, prefill, training or kernel", "decode"},
    {"profile", "kernel_time",
     "shares of all kernel time by class: gemm, attention, norm, elementwise, cast, collective, "
     "copy, other",
     "{gemm: 71 %, attention: 9 %}"},
};

bool holds(const std::vector<EvidenceKey>& keys, std::string_view key) {
  return std::any_of(keys.begin(), keys.end(), [&](const EvidenceKey& k) { return k.key == key; });
}

}  // namespace

const std::vector<std::string_view>& evidence_sections() {
  static const std::vector<std::string_view> sections{"machine", "model",  "serving", "measured",
                                                      "profile", "engine", "memory"};
  return sections;
}

std::vector<EvidenceKey> evidence_keys(std::string_view section) {
  std::vector<EvidenceKey> keys;
  for (const EvidenceKey& word : kWords) {
    if (word.section == section) keys.push_back(word);
  }
  for (const Field& field : evidence_fields()) {
    if (field.section != section) continue;
    const FieldGuide* guide = find_guide(field.path());
    keys.push_back({field.section, field.key, field.meaning,
                    guide != nullptr ? guide->example : std::string_view{}, true});
  }
  return keys;
}

void reject_unknown(const core::Reader& in, std::string_view section,
                    const std::vector<std::string>& also) {
  std::vector<std::string> here(also);
  for (const EvidenceKey& key : evidence_keys(section)) {
    here.emplace_back(key.key);
    for (const std::string_view alias : also_called(key.key)) here.emplace_back(alias);
  }
  for (const std::string& key : in.keys()) {
    const std::string_view name = own_name(key);
    const auto known = [&](std::string_view k) {
      return std::find(here.begin(), here.end(), k) != here.end();
    };
    if (known(key) || known(name)) continue;
    std::vector<std::string> elsewhere;  // dotted
    for (const std::string_view other : evidence_sections()) {
      if (other == section) continue;
      const std::vector<EvidenceKey> keys = evidence_keys(other);
      if (holds(keys, name) && name != "name" && name != "base")
        in.reject_key(key, "'" + key + "' belongs under '" + std::string(other) + "'");
      for (const EvidenceKey& k : keys) elsewhere.emplace_back(k.key);
    }
    const std::string near =
        core::nearest_name(key, here).empty() ? core::nearest_name(key, elsewhere) : "";
    for (const std::string_view other : evidence_sections()) {
      if (!near.empty() && other != section && holds(evidence_keys(other), near))
        in.reject_key(
            key, "unknown key; did you mean '" + near + "' under '" + std::string(other) + "'?");
    }
    in.reject_key(key, "unknown key" + core::suggestion(key, here));
  }
}

}  // namespace ridgeline::diagnosis
