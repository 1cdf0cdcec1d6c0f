#pragma once
// Random servers of the kind that people run, some of them with something wrong. Names of machines,
// models and stacks, and how often each is drawn, are data (configs/corpus/servers.yaml); sizes,
// loads and faults are drawn here.
//
//   what is drawn        model, number formats, machine that holds it, tensor parallelism, stack,
//                        load (clients that never rest, one at a time, open below and above
//                        capacity, mostly idle, prompts alone, a training step), lengths, batch
//   what goes wrong      nothing, one thing or two of whatif/corpus/faults.hpp
//
// Left out: several nodes, pipelines, prefixes that prompts share, copies through PCIe. Runs are
// short, a thousand steps or so.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario.hpp"
#include "whatif/draw.hpp"

namespace ridgeline::whatif {

/// What servers are drawn from, read once.
class ServerPool {
 public:
  struct Machine {
    std::string name;
    core::Node document;
    hw::GpuSpec spec;
  };
  struct Model {
    std::string name;
    core::Node document;
    workloads::ModelSpec spec;
  };
  struct Stack {
    std::string name;
    core::Node document;
    workloads::StackSpec spec;
  };
  template <class T>
  struct Weighted {
    std::vector<T> things;
    std::vector<double> weights;
    [[nodiscard]] const T& drawn(Draw& draw) const;
  };

  explicit ServerPool(const core::ConfigLibrary& library);

  Weighted<Machine> machines;
  Weighted<Model> models;
  Weighted<Stack> stacks;
  Weighted<Model> training;
  core::ConfigLibrary configs;
};

enum class LoadKind : std::uint8_t {
  saturated,
  one_at_a_time,
  keeps_up,
  overloaded,
  mostly_idle,
  prompts_alone,
  training,
};
[[nodiscard]] std::string_view name_of(LoadKind kind);

/// A server while it is drawn: `document` says what is not as the machine, the model and the stack
/// are shipped.
struct ServerSketch {
  const ServerPool::Machine* machine = nullptr;
  const ServerPool::Model* model = nullptr;
  const ServerPool::Stack* stack = nullptr;
  workloads::ModelSpec quantized;  // the model in the number formats drawn
  bool as_shipped = true;          // the model's formats, weights and KV cache
  std::int64_t tensor = 1;
  LoadKind load = LoadKind::saturated;
  std::int64_t batch = 1;  // sequences together; of training, a microbatch
  std::int64_t prompt = 1;
  std::int64_t output = 1;
  double longest = 1.0;  // longest prompt and answer, over the median
  std::vector<std::string> faults;
  std::vector<sim::Override> changes;

  void set(std::string key, std::string value) {
    changes.emplace_back(std::move(key), std::move(value));
  }
};

struct Server {
  ServerSketch sketch;
  core::Node document;  // names, and what differs from them: `ridgeline run` takes it
  sim::Scenario scenario;
};

/// Nothing when what was drawn fits no machine, or its memory.
[[nodiscard]] std::optional<Server> draw_server(const ServerPool& pool, Draw& draw,
                                                std::uint64_t seed);

}  // namespace ridgeline::whatif
