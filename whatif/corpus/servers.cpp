#include "whatif/corpus/servers.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "core/error.hpp"
#include "sim/metrics.hpp"
#include "sim/run.hpp"
#include "sim/scheduler.hpp"
#include "whatif/corpus/faults.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::whatif {
namespace {

using core::Node;
using Sketch = ServerSketch;

std::size_t drawn_index(Draw& draw, const std::vector<double>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double left = draw.uniform(0.0, all);
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0.0)) continue;
    left -= weights[i];
    last = i;
    if (left < 0.0) break;
  }
  return last;
}

Node word(const std::string& text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.scalar = text;
  return node;
}

Node resolved(const core::ConfigLibrary& library, const char* kind, const std::string& name) {
  return std::string_view(kind) == "models" ? workloads::resolve_model(library, word(name))
                                            : library.resolve(kind, word(name));
}

/// The things of one kind with their weights, each read by `spec_of`.
template <class T, class Read>
ServerPool::Weighted<T> read_weighted(const core::Reader& in, const char* key, const char* kind,
                                      const core::ConfigLibrary& library, const Read& spec_of) {
  ServerPool::Weighted<T> out;
  const core::Reader map = in.child(key);
  for (const std::string& name : map.keys()) {
    Node document = resolved(library, kind, name);
    auto spec = spec_of(core::Reader(document, key));
    out.things.push_back({name, std::move(document), std::move(spec)});
    const double weight = map.get<double>(name);
    map.require(weight > 0.0 && weight <= 1e6, name, "a weight above zero");
    out.weights.push_back(weight);
  }
  if (out.things.empty()) in.fail(key, "at least one name with its weight");
  return out;
}

// How often each kind of load is drawn.
constexpr std::array<std::pair<LoadKind, double>, 7> kLoads{{{LoadKind::saturated, 0.58},
                                                             {LoadKind::one_at_a_time, 0.10},
                                                             {LoadKind::keeps_up, 0.06},
                                                             {LoadKind::overloaded, 0.05},
                                                             {LoadKind::mostly_idle, 0.07},
                                                             {LoadKind::prompts_alone, 0.09},
                                                             {LoadKind::training, 0.05}}};

LoadKind drawn_load(Draw& draw) {
  std::vector<double> weights;
  for (const auto& [kind, weight] : kLoads) weights.push_back(weight);
  return kLoads[drawn_index(draw, weights)].first;
}

/// The model's document with what was changed of it, and read again.
workloads::ModelSpec changed_model(const Sketch& s) {
  Node document = s.model->document;
  for (const auto& [key, value] : s.changes) {
    constexpr std::string_view kModel = "model.";
    if (key.starts_with(kModel)) core::set_path(document, key.substr(kModel.size()), value, key);
  }
  return workloads::read_model_spec(core::Reader(document, "model"));
}

void draw_number_formats(Sketch& s, Draw& draw) {
  const bool wide = hw::bytes_of(s.model->spec.weights) >= hw::bytes_of(hw::Dtype::fp16);
  const double which = draw.uniform(0.0, 1.0);
  const bool small_kv_cache = draw.chance(0.15);
  if (s.load != LoadKind::training && wide) {
    if (which < 0.15) {
      s.set("model.quantization", "fp8");
    } else if (which < 0.28) {
      s.set("model.quantization", "awq");
    } else if (which < 0.34) {
      s.set("model.weights", "int8");
    }
  }
  if (s.load != LoadKind::training && small_kv_cache && !s.model->spec.is_latent())
    s.set("engine.kv_cache_dtype", "fp8");
  s.as_shipped = s.changes.empty();
  s.quantized = changed_model(s);
}

/// A machine that holds the model, over as few GPUs as do, or more.
bool place(Sketch& s, const ServerPool& pool, Draw& draw) {
  constexpr int kTries = 6;
  constexpr double kRoom = 0.7;  // of the memory; the rest is for activations and KV cache
  for (int i = 0; i < kTries; ++i) {
    s.machine = &pool.machines.drawn(draw);
    const hw::GpuSpec& gpu = s.machine->spec;
    const auto can_split = [&](std::int64_t tp) {
      return tp <= gpu.node.gpus && s.quantized.heads % tp == 0 &&
             (tp == 1 || !gpu.node.libraries.empty());
    };
    for (const std::int64_t tp : {1, 2, 4, 8}) {
      if (!can_split(tp)) break;
      if (s.quantized.weight_bytes_per_gpu(tp, 1, 1) > gpu.hbm.capacity * kRoom) continue;
      s.tensor = tp;
      if (s.load == LoadKind::training) return true;
      while (s.tensor < 8 && draw.chance(0.35) && can_split(2 * s.tensor)) s.tensor *= 2;
      return true;
    }
  }
  return false;
}

void draw_sizes(Sketch& s, Draw& draw) {
  if (s.load == LoadKind::training) {
    constexpr std::array<std::int64_t, 4> kSequences{1024, 2048, 4096, 8192};
    s.batch = draw.whole(1.0, 16.0);
    s.prompt = kSequences[draw.one_of(kSequences.size())];
    return;
  }
  constexpr double kTokensAtOnce = 1e6;  // more would take long to simulate
  s.prompt = draw.chance(0.8) ? draw.whole(30.0, 4000.0) : draw.whole(4000.0, 100000.0);
  s.output = draw.chance(0.85) ? draw.whole(32.0, 256.0) : draw.whole(256.0, 512.0);
  s.batch = draw.whole(2.0, 512.0);
  if (draw.chance(0.6)) s.longest = 3.0;
  constexpr std::int64_t kShort = 100;  // a sparse load makes a step for every token
  switch (s.load) {
    case LoadKind::mostly_idle:
      s.output = std::min(s.output, kShort);
      [[fallthrough]];
    case LoadKind::one_at_a_time:
      s.batch = 1;
      break;
    case LoadKind::keeps_up:
      s.output = std::min(s.output, kShort);
      [[fallthrough]];
    case LoadKind::overloaded:
      s.batch = std::clamp<std::int64_t>(s.batch / 4, 4, 128);
      break;
    case LoadKind::prompts_alone:
      s.batch = draw.chance(0.6) ? 1 : draw.whole(2.0, 4.0);
      s.output = 1;
      s.prompt = draw.whole(200.0, 60000.0);
      s.longest = 1.0;
      break;
    default:
      break;
  }
  const auto most = static_cast<std::int64_t>(kTokensAtOnce / static_cast<double>(s.prompt));
  s.batch = std::max<std::int64_t>(1, std::min(s.batch, most));
}

void draw_faults(Sketch& s, Draw& draw) {
  const double how_many = draw.uniform(0.0, 1.0);
  const int wanted = how_many < 0.45 ? 0 : how_many < 0.9 ? 1 : 2;
  std::vector<double> weights;
  for (const Fault& fault : faults()) weights.push_back(fault.applies(s) ? fault.weight : 0.0);
  for (int i = 0; i < wanted; ++i) {
    const std::size_t at = drawn_index(draw, weights);
    if (!(weights[at] > 0.0)) return;
    weights[at] = 0.0;
    s.faults.emplace_back(faults()[at].name);
    faults()[at].plant(s, draw);
  }
}

bool draw_engine(Sketch& s, Draw& draw) {
  const hw::NodeSpec& node = s.machine->spec.node;
  if (s.tensor > 1) {
    s.set("engine.tensor_parallel_size", std::to_string(s.tensor));
    const std::string& library = s.stack->spec.lowering.collectives;
    const bool has = std::any_of(node.libraries.begin(), node.libraries.end(),
                                 [&](const auto& l) { return l.name == library; });
    if (!has) s.set("stack.lowering.collectives", node.libraries.front().name);
  }
  if (s.load == LoadKind::training) return s.prompt <= s.quantized.max_position;
  constexpr std::int64_t kRound = 256;
  const double longest = static_cast<double>(s.prompt + s.output) * s.longest;
  const std::int64_t length = (static_cast<std::int64_t>(longest) / kRound + 1) * kRound;
  if (length > s.quantized.max_position) return false;
  constexpr std::array<std::int64_t, 4> kBudgets{2048, 8192, 8192, 16384};
  s.set("engine.max_model_len", std::to_string(length));
  // What computes prompts whole has room for the longest.
  const std::int64_t budget = kBudgets[draw.one_of(kBudgets.size())];
  const bool chunked = sim::defaults_of(s.stack->spec.scheduler).chunked_prefill;
  s.set("engine.max_num_batched_tokens",
        std::to_string(chunked ? budget : std::max(budget, length)));
  s.set("engine.max_num_seqs", s.batch > 256 ? "1024" : "256");
  return true;
}

std::string length_law(std::int64_t median, double longest, double sigma) {
  if (longest <= 1.0) return std::to_string(median);
  return fmt::format("{{lognormal: {{median: {}, sigma: {:.2f}, max: {}}}}}", median, sigma,
                     static_cast<std::int64_t>(static_cast<double>(median) * longest));
}

void set_requests(Node& document, std::int64_t requests, const std::string& arrivals) {
  core::set_path(document, "workload.requests", std::to_string(requests), "corpus");
  core::set_path(document, "workload.arrivals", arrivals, "corpus");
}

std::string closed_loop(std::int64_t concurrency) {
  return fmt::format("{{closed_loop: {{concurrency: {}}}}}", concurrency);
}

/// The document with the machine, the model and the stack in full, as reading the names would give.
Node in_full(const Sketch& s, Node document) {
  const auto fill = [&document](const char* key, const Node& base) {
    Node* top = document.find(key);
    if (top->kind == Node::Kind::map) {
      std::erase_if(top->entries, [](const auto& entry) { return entry.first == "base"; });
      *top = core::overlay(base, *top);
    } else {
      *top = base;
    }
  };
  fill("hw", s.machine->document);
  fill("model", s.model->document);
  fill("stack", s.stack->document);
  return document;
}

Node written(const Sketch& s, std::uint64_t seed) {
  Node out;
  out.kind = Node::Kind::map;
  const auto set = [&out](const std::string& key, const std::string& value) {
    core::set_path(out, key, value, "corpus");
  };
  set("hw.base", s.machine->name);
  set("model.base", s.model->name);
  set("stack.base", s.stack->name);
  for (const auto& [key, value] : s.changes) set(key, value);
  for (const char* key : {"hw", "model", "stack"}) {
    Node* node = out.find(key);
    if (node->entries.size() == 1) *node = Node(node->entries.front().second);
  }
  constexpr std::uint64_t kMostInYaml = INT64_MAX;
  set("seed", std::to_string(seed & kMostInYaml));
  return out;
}

/// Arrivals by what the server can do, which a short run of its own tells.
void set_arrivals(Node& document, const Sketch& s, const ServerPool& pool, Draw& draw) {
  const bool alone = s.load == LoadKind::mostly_idle;
  set_requests(document, alone ? 3 : 3 * s.batch, closed_loop(s.batch));
  const sim::RunResult pilot = sim::run(sim::read_scenario(in_full(s, document), {}, pool.configs));
  const sim::Metrics metrics = sim::measure(pilot);
  if (metrics.completed == 0 || !(metrics.e2e.mean > 0.0))
    throw core::SimulationError("no request of the pilot run was answered");
  const double capacity = metrics.per_second(static_cast<double>(metrics.completed));
  const auto poisson = [](double rate) {
    return fmt::format("{{poisson: {{rate: {:.4g} /s}}}}", rate);
  };
  if (alone) {
    constexpr std::int64_t kRequests = 12;
    const double rest = draw.log_uniform(1.2, 12.0);  // of a client, over an answer's time
    if (draw.chance(0.3)) {
      set_requests(document, kRequests,
                   fmt::format("{{closed_loop: {{concurrency: 1, think_time: {:.4g} ms}}}}",
                               rest * metrics.e2e.mean * 1e3));
    } else {
      set_requests(document, kRequests, poisson(1.0 / (rest * metrics.e2e.mean)));
    }
    return;
  }
  const double load =
      s.load == LoadKind::keeps_up ? draw.uniform(0.3, 0.8) : draw.uniform(1.3, 2.5);
  set_requests(document, std::clamp<std::int64_t>(4 * s.batch, 40, 250), poisson(load * capacity));
}

void set_workload(Node& document, const Sketch& s, const ServerPool& pool, Draw& draw) {
  if (s.load == LoadKind::training) {
    core::set_path(document, "workload.training",
                   fmt::format("{{microbatch: {}, sequence: {}}}", s.batch, s.prompt), "corpus");
    return;
  }
  const double sigma = draw.uniform(0.3, 0.8);
  core::set_path(document, "workload.prompt_tokens", length_law(s.prompt, s.longest, sigma),
                 "corpus");
  core::set_path(document, "workload.output_tokens", length_law(s.output, s.longest, sigma),
                 "corpus");
  switch (s.load) {
    case LoadKind::one_at_a_time:
      set_requests(document, 3, closed_loop(1));
      return;
    case LoadKind::prompts_alone:
      set_requests(document, 4 * s.batch, closed_loop(s.batch));
      return;
    case LoadKind::saturated:
      set_requests(document, (s.batch <= 32 ? 4 : 3) * s.batch, closed_loop(s.batch));
      return;
    default:
      set_arrivals(document, s, pool, draw);
  }
}

}  // namespace

std::string_view name_of(LoadKind kind) {
  switch (kind) {
    case LoadKind::saturated:
      return "saturated";
    case LoadKind::one_at_a_time:
      return "one_at_a_time";
    case LoadKind::keeps_up:
      return "keeps_up";
    case LoadKind::overloaded:
      return "overloaded";
    case LoadKind::mostly_idle:
      return "mostly_idle";
    case LoadKind::prompts_alone:
      return "prompts_alone";
    case LoadKind::training:
      return "training";
  }
  return "";
}

template <class T>
const T& ServerPool::Weighted<T>::drawn(Draw& draw) const {
  return things[drawn_index(draw, weights)];
}

ServerPool::ServerPool(const core::ConfigLibrary& library) : configs(library) {
  const Node document = library.load("corpus", library.root() / "corpus" / "servers.yaml");
  const core::Reader in(document);
  const auto gpu = [](const core::Reader& r) { return hw::read_gpu_spec(r); };
  const auto model = [](const core::Reader& r) { return workloads::read_model_spec(r); };
  const auto stack = [](const core::Reader& r) { return workloads::read_stack_spec(r); };
  machines = read_weighted<Machine>(in, "machines", "hw", library, gpu);
  models = read_weighted<Model>(in, "models", "models", library, model);
  stacks = read_weighted<Stack>(in, "stacks", "stacks", library, stack);
  training = read_weighted<Model>(in, "training", "models", library, model);
  in.finish();
}

std::optional<Server> draw_server(const ServerPool& pool, Draw& draw, std::uint64_t seed) {
  Sketch s;
  s.load = drawn_load(draw);
  s.model = s.load == LoadKind::training ? &pool.training.drawn(draw) : &pool.models.drawn(draw);
  s.stack = &pool.stacks.drawn(draw);
  draw_number_formats(s, draw);
  if (!place(s, pool, draw)) return std::nullopt;
  draw_sizes(s, draw);
  draw_faults(s, draw);
  if (!draw_engine(s, draw)) return std::nullopt;
  Node document = written(s, seed);
  try {
    set_workload(document, s, pool, draw);
    sim::Scenario scenario = sim::read_scenario(in_full(s, document), {}, pool.configs);
    return Server{std::move(s), std::move(document), std::move(scenario)};
  } catch (const core::ConfigError&) {
    return std::nullopt;  // the machine lacks a number format, a length is beyond the model, ...
  } catch (const core::SimulationError&) {
    return std::nullopt;  // it does not fit
  }
}

}  // namespace ridgeline::whatif
