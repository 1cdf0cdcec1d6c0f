#include "whatif/from_trace/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/scheduler.hpp"

namespace ridgeline::whatif {
namespace {

constexpr const char* kOrigin = "scenario from a trace";
constexpr std::int64_t kRounds = 4;  // requests of a client: enough for a batch that has settled

std::int64_t rounded(double x) { return std::max<std::int64_t>(1, std::llround(x)); }

/// `reference` as a map, into which keys can be laid.
void make_map(core::Node& node) {
  if (node.kind != core::Node::Kind::scalar) return;
  core::Node map;
  map.kind = core::Node::Kind::map;
  map.position = node.position;
  map.entries.emplace_back("base", node);
  node = std::move(map);
}

}  // namespace

Draft::Draft(const TraceFacts& facts, const std::string& stack,
             std::vector<sim::Override> overrides)
    : stack_(stack), overrides_(std::move(overrides)) {
  document_.kind = core::Node::Kind::map;
  document_.position.file = std::make_shared<const std::string>(kOrigin);
  core::set_path(document_, "name", "from_trace", kOrigin);
  document_.entries.emplace_back("hw", facts.hw);
  document_.entries.emplace_back("model", facts.model);
  core::set_path(document_, "stack.base", stack, "--stack");
  add_workload(facts);
  if (!facts.kv_cache_dtype.empty()) set("engine.kv_cache_dtype", facts.kv_cache_dtype);
  if (facts.tensor_parallel > 1)
    set("engine.tensor_parallel_size", std::to_string(facts.tensor_parallel));
  core::set_path(document_, "seed", "1", kOrigin);
}

void Draft::add_workload(const TraceFacts& facts) {
  std::vector<double> batches;
  std::vector<double> contexts;
  double decoded = 0.0;
  double prefills = 0.0;
  double prefill_tokens = 0.0;
  std::int64_t most_tokens = 0;
  std::int64_t most_sequences = 1;
  for (const StepFacts& step : facts.steps) {
    const workloads::StepShape shape = step.record.shape();
    most_tokens = std::max(most_tokens, shape.tokens());
    most_sequences = std::max(most_sequences, shape.decode_sequences + shape.prefill_sequences);
    prefills += static_cast<double>(shape.prefill_sequences);
    prefill_tokens += static_cast<double>(shape.prefill_tokens);
    decoded += static_cast<double>(shape.decode_sequences);
    if (shape.decode_sequences == 0) continue;
    const auto sequences = static_cast<double>(shape.decode_sequences);
    batches.push_back(sequences + static_cast<double>(shape.prefill_sequences));
    contexts.push_back(static_cast<double>(shape.decode_context) / sequences);
  }
  std::int64_t concurrency = rounded(median_of(batches));
  std::int64_t prompt = 1;
  std::int64_t output = 1;
  if (batches.empty()) {  // nothing but prompts
    std::vector<double> sizes;
    for (const StepFacts& step : facts.steps) sizes.push_back(step.record.prefill_sequences);
    concurrency = rounded(median_of(sizes));
    prompt = rounded(prefill_tokens / std::max(1.0, prefills));
    assumptions_.emplace_back("no step decodes: requests of one output token");
  } else if (prefills > 0.0) {
    prompt = rounded(prefill_tokens / prefills);
    output = rounded(decoded / prefills) + 1;
    assumptions_.emplace_back(
        "prompts as long as the tokens of a prefill, answers as many tokens as decoded for each");
  } else {
    const double context = median_of(contexts);
    output = std::max<std::int64_t>(2, rounded(context / 2.0));
    prompt = rounded(context - 0.5 * static_cast<double>(output));
    assumptions_.push_back(fmt::format(
        "no step has a prefill: prompts of {} tokens and answers of {} are assumed, whose mean "
        "context is the {:.0f} that was seen",
        prompt, output, context));
  }
  set("workload.requests", std::to_string(kRounds * concurrency));
  set("workload.arrivals.closed_loop.concurrency", std::to_string(concurrency));
  set("workload.prompt_tokens", std::to_string(prompt));
  set("workload.output_tokens", std::to_string(output));
  assumptions_.push_back(
      fmt::format("{} clients, each waiting for its answer: as many as sequences in the median "
                  "step that decodes; when requests came is not in a "
                  "trace",
                  concurrency));
  // Said where any scheduler's defaults would not do: which one it is, the stack decides later.
  bool tokens_fit = true;
  bool sequences_fit = true;
  for (const std::string& name : sim::scheduler_names()) {
    const sim::PolicyDefaults& defaults = sim::defaults_of(name);
    tokens_fit = tokens_fit && most_tokens <= defaults.max_num_batched_tokens;
    sequences_fit = sequences_fit && most_sequences <= defaults.max_num_seqs;
  }
  const sim::PolicyDefaults usual;
  if (!tokens_fit) {
    set("engine.max_num_batched_tokens",
        std::to_string(std::max(most_tokens, usual.max_num_batched_tokens)));
    // Else prompts as long as the model's positions would have to fit into such a step.
    set("engine.enable_chunked_prefill", "true");
  }
  if (!sequences_fit)
    set("engine.max_num_seqs", std::to_string(std::max(most_sequences, usual.max_num_seqs)));
}

bool Draft::is_given(const std::string& key) const {
  return std::any_of(overrides_.begin(), overrides_.end(),
                     [&](const sim::Override& o) { return o.first == key; });
}

void Draft::set(const std::string& key, const std::string& value) {
  core::set_path(document_, key, value, kOrigin);
  std::erase_if(values_, [&](const sim::Override& v) { return v.first == key; });
  values_.emplace_back(key, value);
}

sim::Scenario Draft::scenario(const core::ConfigLibrary& library) const {
  return sim::read_scenario(document_, overrides_, library);
}

std::string Draft::yaml(const core::ConfigLibrary& library) const {
  core::Node document = document_;
  for (const auto& [key, value] : overrides_) {
    if (key == "workload.trace" || key == "workload.training")  // instead of what is generated
      document.find("workload")->entries.clear();
    if (core::Node* node = document.find(key.substr(0, key.find('.')));
        node != nullptr && key.find('.') != std::string::npos)
      make_map(*node);
    core::set_path(document, key, value, "--set " + key + "=" + value);
  }
  std::string text = core::to_yaml(document);
  static_cast<void>(sim::read_scenario(core::parse_yaml(text, kOrigin), {}, library));
  return text;
}

}  // namespace ridgeline::whatif
