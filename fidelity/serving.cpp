#include "fidelity/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/lower.hpp"
#include "fidelity/operation.hpp"
#include "fidelity/server_runs.hpp"
#include "sim/run.hpp"

namespace ridgeline::fidelity {
namespace {

/// "vLLM 0.8.3 (April 10 release)" and "rocm6.3.1_vllm0.8.3" are {0, 8, 3}: what stands behind the
/// name of the engine, or the first; nothing where no number with a point stands.
std::optional<std::array<int, 3>> version_in(std::string_view text) {
  if (const std::size_t name = core::lower(text).find("vllm"); name != std::string::npos) {
    if (const auto own = version_in(text.substr(name + 4))) return own;
  }
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0 || text[i + 1] != '.') continue;
    std::array<int, 3> version{};
    const char* at = text.data() + i;
    const char* const end = text.data() + text.size();
    for (int& part : version) {
      const auto [next, error] = std::from_chars(at, end, part);
      if (error != std::errc{}) break;
      at = next;
      if (at == end || *at != '.') break;
      ++at;
    }
    return version;
  }
  return std::nullopt;
}

/// The software stack of configs/stacks for what a table calls it.
std::string stack_for(const Row& row) {
  const std::string framework = core::lower(row.text("framework"));
  const std::string version(row.text("version"));
  const std::string words = core::lower(version + " " + std::string(row.text("mode_notes")));
  if (framework.find("sglang") != std::string::npos) return "sglang";
  if (framework.find("tgi") != std::string::npos) return "tgi";
  if (framework.find("vllm") == std::string::npos)
    row.fail("framework", "vLLM, SGLang or TGI, which have a stack");
  using Version = std::array<int, 3>;
  constexpr Version kFirstWithOwnReduce{0, 6, 6};
  constexpr Version kFirstV1{0, 9, 1};      // whose images have the V1 engine
  constexpr Version kFirstAsync{0, 14, 0};  // whose default is asynchronous scheduling
  const auto number = version_in(version);
  const bool says_v0 = words.find("(v0)") != std::string::npos;
  // Nightly builds are named by their day.
  const std::string_view date = row.text("date");
  const bool old = number ? *number < kFirstV1 : !date.empty() && date < "2025-06";
  if (number && *number < kFirstWithOwnReduce) return "vllm_v0_2024";
  if (says_v0 || old) return "vllm_v0";
  if (number && *number < kFirstAsync) return "vllm_v1_2025";
  return "vllm_v1";
}

/// "Qwen3Guard-Gen-8B (Qwen3-8B arch)" is a Qwen3-8B, "llama2-70b-99.9" a Llama-2-70B.
core::Node model_of(const Row& row, const core::ConfigLibrary& library) {
  std::string name(row.text("model"));
  if (const std::size_t open = name.find('('); open != std::string::npos) {
    const std::size_t end = name.find_first_of(" )", open);
    name = name.substr(open + 1, end - open - 1);
  }
  return model_document(library, std::move(name), row.place());
}

/// The word in configurations for "fp8 (amd/...-FP8-KV)"; nothing for 16 bits.
std::optional<std::string> quantization_of(std::string_view text) {
  const std::string words = core::lower(text);
  for (const char* method : {"fp8", "int8", "awq", "gptq", "mxfp4"}) {
    if (words.starts_with(method)) return method;
  }
  return std::nullopt;
}

/// The number after a word: "... max_num_batched_tokens 131072; ...".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + word.size());
  rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return error == std::errc{} && end != rest.data() ? std::optional(value) : std::nullopt;
}

void set(core::Node& node, std::string_view path, const std::string& value) {
  core::set_path(node, path, value, "a row of the table");
}

struct Load {
  std::int64_t requests = 0;
  std::int64_t at_once = 0;  // a closed loop of so many clients,
  double rate = 0.0;         // or Poisson arrivals a second
};

/// The scenario of configs/scenarios that a row's load is called by: mlperf_server for "MLPerf
/// Server". Its workload and engine hold then, where the row says nothing else.
std::optional<std::string> scenario_for(const Row& row, const core::ConfigLibrary& library) {
  std::string name = core::lower(row.text("load_kind"));
  std::replace(name.begin(), name.end(), ' ', '_');
  const auto names = library.names("scenarios");
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  return known ? std::optional(name) : std::nullopt;
}

/// A load that a scenario is called after, MLPerf's: at least ten minutes of a Server's rate, or an
/// Offline run's samples, in whole passes over the data set, which the scenario's requests are
/// (mlperf.conf: min_duration, sample_concatenate_permutation; a log's 52,800 samples are the least
/// that would do, and 73,728 were run).
Load mlperf_load(const Row& row, const core::Node& workload) {
  constexpr double kSeconds = 600.0;
  Load load;
  const core::Node* const arrivals = workload.find("arrivals");
  const bool server = arrivals != nullptr && arrivals->find("poisson") != nullptr;
  if (!server && !core::lower(row.text("load_kind")).ends_with("offline"))
    row.fail("load_kind", "a scenario with Poisson arrivals, or one whose name ends in offline");
  if (server) load.rate = row.number("load_value", 0.001);
  const std::int64_t pass = core::Reader(workload, "workload").integer("requests", 1, 1'000'000);
  const std::int64_t least = server ? std::llround(load.rate * kSeconds) : row.count("num_prompts");
  load.requests = (least + pass - 1) / pass * pass;
  if (!server) load.at_once = load.requests;
  return load;
}

Load load_of(const Row& row) {
  const std::string kind = core::lower(row.text("load_kind"));
  Load load;
  if (kind.find("batch") != std::string::npos) {
    load.requests = load.at_once = row.count("load_value");
  } else if (kind.ends_with("offline")) {
    load.requests = load.at_once = row.count("num_prompts");
  } else if (kind == "concurrency") {
    constexpr std::int64_t kRounds = 4;  // of every client, where a row does not say how many
    load.at_once = row.count("load_value");
    load.requests = row.maybe("num_prompts") ? row.count("num_prompts") : kRounds * load.at_once;
  } else {
    row.fail("load_kind", "batch, offline, concurrency or the name of a scenario (MLPerf Server)");
  }
  return load;
}

/// GPUs that a row's server has: 8 of "XE9680_MI300X_192GBx8", where the column says nothing.
std::int64_t gpus_of(const Row& row) {
  if (row.maybe("n_gpu")) return row.count("n_gpu");
  const std::string_view system = row.text("mode_notes");
  const std::size_t times = system.rfind('x');
  const auto gpus =
      times == std::string_view::npos ? std::nullopt : number_after(system.substr(times), "x");
  return gpus && times + 1 + std::to_string(*gpus).size() == system.size() ? *gpus
                                                                           : row.count("n_gpu");
}

/// Copies of the model, each with its share of the load. A server that a scenario is called after
/// fills its GPUs with them.
std::int64_t copies_of(const Row& row, bool named) {
  if (row.maybe("dp")) return row.count("dp");
  return named ? gpus_of(row) / (row.maybe("tp") ? row.count("tp") : 1) : 1;
}

/// LoadGen's end of a Server run: when the request that was sent last is answered, whoever is still
/// waiting then (mlcommons/inference, loadgen/results.cc: final_query_all_samples_done_time).
double loadgen_seconds(const sim::RunResult& run) {
  const auto last =
      std::max_element(run.requests.begin(), run.requests.end(),
                       [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  return last == run.requests.end() ? 0.0 : last->last_token.since_start().value();
}

struct Reading {
  double (*of)(const sim::Metrics& m);
  double unit = 0.0;  // a second in the unit that the metric has by itself; 0 if it is no time
};

/// What a metric's name means.
const Reading& reading_of(const Row& row) {
  struct Word {
    std::string_view name;
    Reading reading;
  };
  using M = const sim::Metrics&;
  static constexpr double kMs = 1e3;
  static constexpr Reading kDuration{[](M m) { return m.duration_seconds; }, 1.0};
  static constexpr Reading kOutput{
      [](M m) { return m.per_second(static_cast<double>(m.output_tokens)); }};
  static constexpr Reading kTokens{
      [](M m) { return m.per_second(static_cast<double>(m.input_tokens + m.output_tokens)); }};
  static constexpr Word kWords[] = {
      {"e2e_latency", kDuration},
      {"elapsed_time", kDuration},
      {"duration_s", kDuration},
      {"throughput", kOutput},
      {"output_throughput", kOutput},
      {"tokens_per_s", kOutput},
      {"tokens_per_second", kTokens},
      {"total_throughput", kTokens},
      {"samples_per_s", {[](M m) { return m.per_second(static_cast<double>(m.completed)); }}},
      {"e2e_mean", {[](M m) { return m.e2e.mean; }, kMs}},
      {"ttft_mean_ms", {[](M m) { return m.ttft.mean; }, kMs}},
      {"ttft", {[](M m) { return m.ttft.mean; }, kMs}},
      {"ttft_mean", {[](M m) { return m.ttft.mean; }, kMs}},
      {"ttft_median", {[](M m) { return m.ttft.p50; }, kMs}},
      {"ttft_p99", {[](M m) { return m.ttft.p99; }, kMs}},
      {"tpot", {[](M m) { return m.tpot.mean; }, kMs}},
      {"tpot_mean", {[](M m) { return m.tpot.mean; }, kMs}},
      {"tpot_median", {[](M m) { return m.tpot.p50; }, kMs}},
      {"tpot_p99", {[](M m) { return m.tpot.p99; }, kMs}},
      {"itl", {[](M m) { return m.itl.mean; }, kMs}},
  };
  // MLPerf's offline run is one query.
  static constexpr Reading kOneQuery{kDuration.of, kMs};
  if (row.text("load_kind") == "MLPerf Offline" && row.text("metric") == "e2e_mean")
    return kOneQuery;
  for (const Word& word : kWords) {
    if (row.text("metric") == word.name) return word.reading;
  }
  row.fail("metric", "a metric that a run has (e2e_latency, throughput, ttft, tpot, ...)");
}

/// What the row's unit makes of a metric: 1 for a rate, a second in its unit for a time.
double scale_of(const Row& row, const Reading& reading) {
  const std::string unit = row.has("unit") ? core::lower(row.text("unit")) : std::string();
  if (reading.unit <= 0.0 || unit.empty()) return reading.unit <= 0.0 ? 1.0 : reading.unit;
  for (const auto& [name, second] :
       {std::pair{"s", 1.0}, std::pair{"ms", 1e3}, std::pair{"us", 1e6}}) {
    if (unit == name) return second;
  }
  row.fail("unit", "s, ms or us for a time");
}

sim::Metrics metrics_of(const sim::Scenario& scenario) {
  const sim::RunResult run = sim::run_all_copies(scenario);
  sim::Metrics metrics = sim::measure(run);
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&scenario.workload);
  if (generated != nullptr && workloads::rate_of(generated->arrivals))
    metrics.duration_seconds = loadgen_seconds(run);
  return metrics;
}

}  // namespace

bool is_serving_table(const Table& table) {
  const auto has = [&](std::string_view c) { return table.column(c).has_value(); };
  return has("framework") && has("load_kind") && has("metric") && has("value") && has("input_len");
}

sim::Scenario scenario_of(const Row& row, const core::ConfigLibrary& library) {
  Machines machines(library, std::nullopt);
  static_cast<void>(gpus_of(row));
  core::Node document;
  document.kind = core::Node::Kind::map;
  const auto named = scenario_for(row, library);
  if (named) {
    document = sim::load_scenario_document(*named, library);
    std::erase_if(document.entries, [](const auto& entry) { return entry.first == "model"; });
  } else {
    set(document, "stack", stack_for(row));
  }
  const core::Node* const stack_node = document.find("stack");
  if (stack_node == nullptr || stack_node->kind != core::Node::Kind::scalar)
    row.fail("load_kind", "a scenario whose stack is a name");
  const std::string stack = stack_node->scalar;
  const core::Node* const workload = named ? document.find("workload") : nullptr;
  const Load load = workload != nullptr ? mlperf_load(row, *workload) : load_of(row);
  set(document, "name", "''");
  document.find("name")->scalar = row.place();  // any text, which YAML need not read
  set(document, "hw", machines.name_of(std::string(row.text("hw"))));
  document.entries.emplace_back("model", model_of(row, library));
  core::Node& model = document.entries.back().second;
  const auto quantization = quantization_of(row.text("weights"));
  if (quantization) {
    for (const char* key : {"weights", "math"}) {
      std::erase_if(model.entries, [&](const auto& entry) { return entry.first == key; });
    }
    set(model, "quantization", *quantization);
  }
  // A stack of one vendor on a machine of another: its collectives are that machine's.
  const hw::NodeSpec& node = machine_of(row, machines).node;
  const auto has = [&](std::string_view name) {
    return std::any_of(node.libraries.begin(), node.libraries.end(),
                       [&](const auto& l) { return l.name == name; });
  };
  if (!has("custom") && !node.libraries.empty()) {
    const std::string& first = node.libraries.front().name;
    set(document, "stack",
        fmt::format("{{base: {}, lowering: {{collectives: {}}}}}", stack, first));
  }
  set(document, "engine.tensor_parallel_size",
      std::to_string(row.maybe("tp") ? row.count("tp") : 1));
  if (const auto kv = core::lower(row.text("kv_dtype")); kv == "fp8")
    set(document, "engine.kv_cache_dtype", kv);
  if (const auto steps = number_after(row.text("mode_notes"), "num-scheduler-steps");
      steps && stack.starts_with("vllm_v0"))
    set(document, "engine.num_scheduler_steps", std::to_string(*steps));
  if (row.maybe("max_num_seqs"))
    set(document, "engine.max_num_seqs", std::to_string(row.count("max_num_seqs")));
  if (!named) {
    const std::int64_t input = row.count("input_len");
    const std::int64_t output = row.count("output_len");
    const auto budget = number_after(row.text("mode_notes"), "max_num_batched_tokens");
    set(document, "engine.max_model_len", std::to_string(input + output));
    set(document, "engine.max_num_batched_tokens",
        std::to_string(std::max(budget.value_or(8192), input + output)));
    set(document, "workload.prompt_tokens", std::to_string(input));
    set(document, "workload.output_tokens", std::to_string(output));
  }
  set(document, "engine.data_parallel_size", std::to_string(copies_of(row, named.has_value())));
  set(document, "workload.requests", std::to_string(load.requests));
  if (load.rate > 0.0) {
    set(document, "workload.arrivals.poisson.rate", fmt::format("{} /s", load.rate));
  } else {
    set(document, "workload.arrivals.closed_loop.concurrency", std::to_string(load.at_once));
  }
  return sim::read_scenario(std::move(document), {}, library);
}

std::vector<Group> validate_serving(const Table& table, const core::ConfigLibrary& library,
                                    const std::function<bool(std::size_t, std::size_t)>& progress) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  ServerRuns runs;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (progress && !progress(i, table.rows.size())) break;
    const Row row(table, i);
    const auto measured = row.maybe("value");
    if (!measured || *measured <= 0.0) continue;
    const std::string name =
        fmt::format("{} x{} {} {}, {} {}", row.text("hw"), row.text("n_gpu"), row.text("model"),
                    row.text("weights"), row.text("framework"), row.text("metric"));
    const auto [it, fresh] = index.try_emplace(name, groups.size());
    if (fresh) groups.push_back({"serving", name, {}, 0, {}});
    Group& group = groups[it->second];
    try {
      const Reading& reading = reading_of(row);
      const double scale = scale_of(row, reading);
      const sim::Scenario scenario = scenario_of(row, library);
      const sim::Metrics& run = runs.of(scenario, metrics_of);
      group.rows.push_back(compared_server(row, *measured, reading.of(run) * scale));
    } catch (const std::exception& error) {
      if (group.not_predicted++ == 0) group.why_not = error.what();
    }
  }
  return groups;
}

}  // namespace ridgeline::fidelity
