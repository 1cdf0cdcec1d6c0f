#include "diagnosis/symptoms.hpp"

#include <algorithm>

namespace ridgeline::diagnosis {
namespace {

using enum Cause;

/// How much more than usual a named cause is suspected. Large, since somebody saw it; finite, since
/// seeing it does not say that it matters.
constexpr double kSuspicion = 12.0;

}  // namespace

const std::vector<Symptom>& all_symptoms() {
  static const std::vector<Symptom> table{
      {"eager_launch", "kernels are launched one by one: no graph is captured", launch,
       "graph_capture"},
      {"small_kernels", "a step is thousands of small kernels", launch, "compile_fusion"},
      {"host_busy", "a scheduler, API server or tokenizer process is at 100 % of a core", host,
       "asynchronous_host"},
      {"work_before_first_token",
       "grammars, images or adapters are prepared on the host before the first token", host,
       "prepared_requests"},
      {"untuned_gemm", "the log says that matrix shapes have no tuned configuration", kernels,
       "gemm_tuning"},
      {"untuned_moe", "the log says that experts run with a default configuration", kernels,
       "gemm_tuning"},
      {"attention_fallback", "the attention backend fell back from the one asked for", kernels,
       "attention_backend"},
      {"dtype_fallback", "weights or tensors are converted on the fly: a path that is not native",
       kernels, "remove_casts"},
      {"single_stream", "collectives run on the stream of the kernels: nothing overlaps them",
       communication, "overlap_communication"},
      {"collectives_dominate", "a profile names collectives as the largest item", communication,
       "faster_collectives"},
      {"slow_link", "devices are linked by PCIe or a slow network", communication,
       "faster_collectives"},
      {"weights_on_host", "some weights are read from the host's memory", transfer,
       "weights_on_device"},
      {"kv_offload", "KV blocks are copied between host and device", transfer, "larger_transfers"},
      {"kv_cache_full", "the log shows the KV cache full, or requests preempted and computed again",
       capacity, "admission_control"},
      {"prefix_evicted", "prefixes that repeat do not fit into the KV cache", capacity,
       "kv_offload"},
      {"power_capped", "clocks fall under load: the power limit is reached", compute,
       "raise_power_limit"},
  };
  return table;
}

const Symptom* find_symptom(std::string_view name) {
  for (const Symptom& symptom : all_symptoms()) {
    if (symptom.name == name) return &symptom;
  }
  return nullptr;
}

std::vector<std::string> symptom_names() {
  std::vector<std::string> names;
  for (const Symptom& symptom : all_symptoms()) names.emplace_back(symptom.name);
  return names;
}

std::vector<const Symptom*> symptoms_of(const Evidence& e) {
  std::vector<const Symptom*> out;
  const auto see = [&](std::string_view name) {
    const Symptom* symptom = find_symptom(name);
    if (symptom != nullptr && std::find(out.begin(), out.end(), symptom) == out.end())
      out.push_back(symptom);
  };
  for (const std::string& name : e.symptoms) see(name);
  if (e.engine.enforce_eager.value_or(false)) see("eager_launch");
  return out;
}

bool has_symptom(const Evidence& e, std::string_view name) {
  const std::vector<const Symptom*> seen = symptoms_of(e);
  return std::find(seen.begin(), seen.end(), find_symptom(name)) != seen.end();
}

std::vector<Clue> clues_of_symptoms(const Evidence& e) {
  std::vector<Clue> out;
  for (const Symptom* symptom : symptoms_of(e)) {
    Clue clue;
    clue.causes = symptom->causes;
    clue.suspicion = kSuspicion;
    clue.measured = false;
    clue.statement = "Seen: " + std::string(symptom->meaning);
    clue.value = Value(1.0);
    clue.unit = "ratio";
    out.push_back(std::move(clue));
  }
  return out;
}

}  // namespace ridgeline::diagnosis
