#include "diagnosis/pasted/derive.hpp"

#include <algorithm>

#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

const PastedFact* find(const std::vector<PastedFact>& facts, std::string_view key) {
  const auto it =
      std::find_if(facts.begin(), facts.end(), [&](const PastedFact& f) { return f.key == key; });
  return it == facts.end() ? nullptr : &*it;
}

/// The plain number above zero that a fact is; nothing for a range.
std::optional<double> count_of(const PastedFact* fact) {
  if (fact == nullptr) return std::nullopt;
  const auto number = number_at(fact->value);
  if (!number || !number->rest.empty() || number->value <= 0.0) return std::nullopt;
  return number->value;
}

/// Takes the place of nothing: what somebody said stays.
void add(std::vector<PastedFact>& facts, std::string_view key, std::string value,
         const PastedFact& from) {
  if (find(facts, key) != nullptr) return;
  PastedFact fact = from;
  fact.key = key;
  fact.value = std::move(value);
  facts.push_back(std::move(fact));
}

void means_of_requests(std::vector<PastedFact>& facts) {
  const auto requests = count_of(find(facts, "serving.requests"));
  if (!requests) return;
  const auto mean = [&](std::string_view total_key, std::string_view key) {
    const PastedFact* total = find(facts, total_key);
    if (const auto tokens = count_of(total)) {
      const PastedFact from = *total;  // adding moves the facts
      // What a client asked for is worth less than what was counted.
      std::erase_if(
          facts, [&](const PastedFact& f) { return f.key == key && f.format == "command line"; });
      add(facts, key, whole_text(*tokens / *requests), from);
    }
  };
  mean("serving.total_prompt_tokens", "serving.prompt_tokens");
  mean("serving.total_output_tokens", "serving.output_tokens");
}

void devices_of_parallelism(std::vector<PastedFact>& facts) {
  const PastedFact* tensor = find(facts, "engine.tensor_parallel_size");
  const PastedFact* pipeline = find(facts, "engine.pipeline_parallel_size");
  if (tensor == nullptr && pipeline == nullptr) return;
  const PastedFact from = tensor != nullptr ? *tensor : *pipeline;
  add(facts, "devices",
      whole_text(count_of(tensor).value_or(1.0) * count_of(pipeline).value_or(1.0)), from);
}

void tokens_of_blocks(std::vector<PastedFact>& facts) {
  const PastedFact* blocks = find(facts, "memory.kv_blocks");
  const auto count = count_of(blocks);
  const auto size = count_of(find(facts, "engine.block_size"));
  if (!count || !size) return;
  const PastedFact from = *blocks;
  add(facts, "memory.kv_tokens", whole_text(*count * *size), from);
}

}  // namespace

void derive(std::vector<PastedFact>& facts) {
  means_of_requests(facts);
  devices_of_parallelism(facts);
  tokens_of_blocks(facts);
}

}  // namespace ridgeline::diagnosis::pasted
