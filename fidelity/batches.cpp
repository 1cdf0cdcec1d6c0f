#include "fidelity/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fidelity/server_runs.hpp"
#include "sim/run.hpp"

namespace ridgeline::fidelity {
namespace {

constexpr const char* kStack = "vllm_2023";
constexpr double kMs = 1e3;

struct Part {
  const char* column;
  const char* name;
  double (*of)(const sim::Metrics&);
};
constexpr Part kParts[] = {
    {"prompt_time", "prefill", [](const sim::Metrics& m) { return m.ttft.mean; }},
    {"token_time", "decode step", [](const sim::Metrics& m) { return m.tpot.mean; }},
};

sim::Metrics metrics_of(const sim::Scenario& scenario) { return sim::measure(sim::run(scenario)); }

}  // namespace

bool is_batch_table(const Table& table) {
  const char* const columns[] = {"model",      "hardware",        "prompt_size", "batch_size",
                                 "token_size", "tensor_parallel", "prompt_time", "token_time"};
  return std::all_of(std::begin(columns), std::end(columns),
                     [&](const char* c) { return table.column(c).has_value(); });
}

sim::Scenario batch_of(const Row& row, Machines& machines, const core::ConfigLibrary& library) {
  core::Node document;
  document.kind = core::Node::Kind::map;
  const auto set = [&](std::string_view path, const std::string& value) {
    core::set_path(document, path, value, "a row of the table");
  };
  const std::string machine = machines.name_of(std::string(row.text("hardware")));
  if (machine.empty()) row.fail("hardware", "a machine of configs/hw within the text");
  const std::int64_t batch = row.count("batch_size");
  const std::int64_t prompt = row.count("prompt_size");
  const std::int64_t answer = row.count("token_size", 2);
  set("name", "''");
  document.find("name")->scalar = row.place();  // any text, which YAML need not read
  set("hw", machine);
  set("stack", kStack);
  document.entries.emplace_back(
      "model", model_document(library, std::string(row.text("model")), row.place()));
  // Answers of thousands of tokens ended by themselves after about 600, and prompts and answers may
  // be longer together than the model's positions.
  const std::int64_t longest = std::max<std::int64_t>(4096, prompt + answer);
  set("model.max_position", std::to_string(longest));
  set("engine.tensor_parallel_size", std::to_string(row.count("tensor_parallel")));
  set("engine.max_num_seqs", std::to_string(std::max<std::int64_t>(256, batch)));
  set("engine.max_num_batched_tokens", std::to_string(std::max(longest, batch * prompt)));
  set("workload.requests", std::to_string(batch));
  set("workload.arrivals.closed_loop.concurrency", std::to_string(batch));
  set("workload.prompt_tokens", std::to_string(prompt));
  constexpr std::int64_t kTokens = 128;  // the step's time is what is compared
  set("workload.output_tokens", std::to_string(std::min(answer, kTokens)));
  return sim::read_scenario(std::move(document), {}, library);
}

std::vector<Group> validate_batches(
    const Table& table, const core::ConfigLibrary& library,
    const std::function<bool(std::size_t done, std::size_t of)>& progress) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  Machines machines(library, std::nullopt);
  ServerRuns runs;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (progress && !progress(i, table.rows.size())) break;
    const Row row(table, i);
    const sim::Metrics* run = nullptr;
    std::string why_not;
    try {
      run = &runs.of(batch_of(row, machines, library), metrics_of);
    } catch (const std::exception& error) {
      why_not = error.what();
    }
    for (const Part& part : kParts) {
      const auto measured = row.maybe(part.column);
      if (!measured || *measured <= 0.0) continue;
      const std::string name = fmt::format("{} {} tp{} {}", row.text("hardware"), row.text("model"),
                                           row.text("tensor_parallel"), part.name);
      const auto [it, fresh] = index.try_emplace(name, groups.size());
      if (fresh) groups.push_back({"batches", name, {}, 0, {}});
      Group& group = groups[it->second];
      if (run == nullptr) {
        if (group.not_predicted++ == 0) group.why_not = why_not;
        continue;
      }
      group.rows.push_back(compared_server(row, *measured, kMs * part.of(*run)));
    }
  }
  return groups;
}

}  // namespace ridgeline::fidelity
