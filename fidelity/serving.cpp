#include "fidelity/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "core/error.hpp"
#include "fidelity/operation.hpp"
#include "sim/metrics.hpp"
#include "sim/run.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::fidelity {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// "vLLM 0.8.3 (April 10 release)" is {0, 8, 3}; nothing where no number with a point stands.
std::optional<std::array<int, 3>> version_in(std::string_view text) {
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
  const std::string framework = lower(row.text("framework"));
  const std::string version(row.text("version"));
  const std::string words = lower(version + " " + std::string(row.text("mode_notes")));
  if (framework.find("sglang") != std::string::npos) return "sglang";
  // Submissions to MLPerf v4.1 ran vLLM 0.4.
  if (words.find("mlperf") != std::string::npos) return "vllm_v0_mlperf";
  if (framework.find("vllm") == std::string::npos)
    row.fail("framework", "vLLM or SGLang, which have a stack");
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
  core::Node reference;
  reference.kind = core::Node::Kind::scalar;
  reference.position.file = std::make_shared<const std::string>(row.place() + ": model");
  while (true) {
    reference.scalar = name;
    try {
      return workloads::resolve_model(library, reference, "model");
    } catch (const core::ConfigError&) {
      // "-99.9", "-FP8": what follows the last hyphen may be no part of the name.
      const std::size_t hyphen = name.rfind('-');
      if (hyphen == std::string::npos) throw;
      name.erase(hyphen);
    }
  }
}

/// The word in configurations for "fp8 (amd/...-FP8-KV)"; nothing for 16 bits.
std::optional<std::string> quantization_of(std::string_view text) {
  const std::string words = lower(text);
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
  bool open_orca = false;    // lengths as in MLPerf's data set
};

// MLPerf inference, Llama 2 70B: 24,576 prompts of OpenOrca, at most 1,024 tokens in and out,
// 294.45 out on average. The law is assumed: lognormal with a spread that is usual for chat;
// prompts as long as answers.
constexpr std::int64_t kOpenOrcaSamples = 24576;
constexpr const char* kOpenOrcaLengths = "{lognormal: {median: 222, sigma: 0.8, max: 1024}}";

Load load_of(const Row& row) {
  const std::string kind = lower(row.text("load_kind"));
  Load load;
  if (kind.starts_with("mlperf")) {
    load.open_orca = true;
    load.requests = row.maybe("num_prompts") ? row.count("num_prompts") : kOpenOrcaSamples;
    load.at_once = load.requests;
    if (kind.find("server") != std::string::npos) {
      load.rate = row.number("load_value", 0.001);
      constexpr double kSeconds = 600.0;  // the shortest run that MLPerf admits
      load.requests = static_cast<std::int64_t>(load.rate * kSeconds);
    }
    return load;
  }
  if (kind.find("batch") != std::string::npos) {
    load.requests = load.at_once = row.count("load_value");
  } else if (kind == "offline") {
    load.requests = load.at_once = row.count("num_prompts");
  } else if (kind == "concurrency") {
    constexpr std::int64_t kRounds = 4;  // of every client, where a row does not say how many
    load.at_once = row.count("load_value");
    load.requests = row.maybe("num_prompts") ? row.count("num_prompts") : kRounds * load.at_once;
  } else {
    row.fail("load_kind", "batch, offline, concurrency or MLPerf Offline, MLPerf Server");
  }
  return load;
}

/// Copies of the model, each with its share of the load: one of them is simulated.
std::int64_t copies_of(const Row& row) { return row.maybe("dp") ? row.count("dp") : 1; }

/// Whether a metric counts what all copies do.
bool is_rate(std::string_view metric) {
  return metric.find("throughput") != std::string_view::npos || metric.ends_with("_per_s") ||
         metric.ends_with("_per_second");
}

using Reading = double (*)(const sim::Metrics& m);

/// What a metric's name means, in the unit of its column `unit`.
Reading reading_of(const Row& row) {
  struct Word {
    std::string_view name;
    Reading reading;
  };
  static constexpr Word kWords[] = {
      {"e2e_latency", [](const sim::Metrics& m) { return m.duration_seconds; }},
      {"elapsed_time", [](const sim::Metrics& m) { return m.duration_seconds; }},
      {"duration_s", [](const sim::Metrics& m) { return m.duration_seconds; }},
      {"throughput",
       [](const sim::Metrics& m) { return m.per_second(static_cast<double>(m.output_tokens)); }},
      {"output_throughput",
       [](const sim::Metrics& m) { return m.per_second(static_cast<double>(m.output_tokens)); }},
      {"tokens_per_second",
       [](const sim::Metrics& m) {
         return m.per_second(static_cast<double>(m.input_tokens + m.output_tokens));
       }},
      {"total_throughput",
       [](const sim::Metrics& m) {
         return m.per_second(static_cast<double>(m.input_tokens + m.output_tokens));
       }},
      {"tokens_per_s",
       [](const sim::Metrics& m) { return m.per_second(static_cast<double>(m.output_tokens)); }},
      {"samples_per_s",
       [](const sim::Metrics& m) { return m.per_second(static_cast<double>(m.completed)); }},
      {"e2e_mean", [](const sim::Metrics& m) { return m.e2e.mean * 1e3; }},
      {"ttft_mean_ms", [](const sim::Metrics& m) { return m.ttft.mean * 1e3; }},
      {"ttft_p99", [](const sim::Metrics& m) { return m.ttft.p99 * 1e3; }},
      {"tpot_p99", [](const sim::Metrics& m) { return m.tpot.p99 * 1e3; }},
      {"ttft", [](const sim::Metrics& m) { return m.ttft.mean * 1e3; }},
      {"ttft_mean", [](const sim::Metrics& m) { return m.ttft.mean * 1e3; }},
      {"ttft_median", [](const sim::Metrics& m) { return m.ttft.p50 * 1e3; }},
      {"tpot", [](const sim::Metrics& m) { return m.tpot.mean * 1e3; }},
      {"tpot_mean", [](const sim::Metrics& m) { return m.tpot.mean * 1e3; }},
      {"tpot_median", [](const sim::Metrics& m) { return m.tpot.p50 * 1e3; }},
      {"itl", [](const sim::Metrics& m) { return m.itl.mean * 1e3; }},
  };
  // MLPerf's offline run is one query.
  if (row.text("load_kind") == "MLPerf Offline" && row.text("metric") == "e2e_mean")
    return [](const sim::Metrics& m) { return m.duration_seconds * 1e3; };
  for (const Word& word : kWords) {
    if (row.text("metric") == word.name) return word.reading;
  }
  row.fail("metric", "a metric that a run has (e2e_latency, throughput, ttft, tpot, ...)");
}

}  // namespace

bool is_serving_table(const Table& table) {
  const auto has = [&](std::string_view c) { return table.column(c).has_value(); };
  return has("framework") && has("load_kind") && has("metric") && has("value") && has("input_len");
}

sim::Scenario scenario_of(const Row& row, const core::ConfigLibrary& library) {
  Machines machines(library, std::nullopt);
  static_cast<void>(row.count("n_gpu"));
  const std::string stack = stack_for(row);
  const Load load = load_of(row);
  const std::int64_t input = load.open_orca ? 1024 : row.count("input_len");
  const std::int64_t output = load.open_orca ? 1024 : row.count("output_len");

  core::Node document;
  document.kind = core::Node::Kind::map;
  set(document, "name", "'" + row.place() + "'");
  set(document, "hw", machines.name_of(std::string(row.text("hw"))));
  set(document, "stack", stack);
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
  if (const auto kv = lower(row.text("kv_dtype")); kv == "fp8")
    set(document, "engine.kv_cache_dtype", kv);
  set(document, "engine.max_model_len", std::to_string(input + output));
  if (const auto steps = number_after(row.text("mode_notes"), "num-scheduler-steps");
      steps && stack.starts_with("vllm_v0"))
    set(document, "engine.num_scheduler_steps", std::to_string(*steps));
  if (row.maybe("max_num_seqs"))
    set(document, "engine.max_num_seqs", std::to_string(row.count("max_num_seqs")));
  const auto budget = number_after(row.text("mode_notes"), "max_num_batched_tokens");
  set(document, "engine.max_num_batched_tokens",
      std::to_string(std::max(budget.value_or(8192), input + output)));
  const std::int64_t copies = copies_of(row);
  set(document, "workload.requests",
      std::to_string(std::max<std::int64_t>(1, load.requests / copies)));
  if (load.rate > 0.0) {
    set(document, "workload.arrivals.poisson.rate",
        fmt::format("{} /s", load.rate / static_cast<double>(copies)));
  } else {
    set(document, "workload.arrivals.closed_loop.concurrency",
        std::to_string(std::max<std::int64_t>(1, load.at_once / copies)));
  }
  set(document, "workload.prompt_tokens",
      load.open_orca ? kOpenOrcaLengths : std::to_string(input));
  set(document, "workload.output_tokens",
      load.open_orca ? kOpenOrcaLengths : std::to_string(output));
  if (load.open_orca) {  // as AMD's submission ran it
    set(document, "engine.enforce_eager", "true");
    set(document, "engine.gpu_memory_utilization", "0.99");
    set(document, "engine.max_num_seqs", "2048");
  }
  return sim::read_scenario(std::move(document), {}, library);
}

std::vector<Group> validate_serving(const Table& table, const core::ConfigLibrary& library,
                                    const std::function<bool(std::size_t, std::size_t)>& progress) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  std::map<std::string, sim::Metrics> runs;  // by scenario, its name apart
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
      const Reading reading = reading_of(row);
      const sim::Scenario scenario = scenario_of(row, library);
      core::Node key = scenario.document;
      set(key, "name", "''");
      auto [run, first] = runs.try_emplace(core::to_yaml(key));
      if (first) run->second = sim::measure(sim::run(scenario));
      Compared compared;
      compared.place = row.place();
      compared.measured = *measured;
      compared.predicted = reading(run->second);
      if (is_rate(row.text("metric"))) compared.predicted *= static_cast<double>(copies_of(row));
      compared.held_back = held_back(row.cells());
      constexpr double kTenPercent = 0.1;
      compared.inside = std::abs(compared.ratio() - 1.0) <= kTenPercent;
      group.rows.push_back(std::move(compared));
    } catch (const std::exception& error) {
      if (group.not_predicted++ == 0) group.why_not = error.what();
    }
  }
  return groups;
}

}  // namespace ridgeline::fidelity
