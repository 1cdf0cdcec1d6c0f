#include "sim/scenario.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "sim/rent.hpp"
#include "sim/scheduler.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::sim {
namespace {

struct Reference {
  std::string_view key;   // in the scenario
  std::string_view kind;  // folder of configs
};
constexpr std::array<Reference, 3> kReferences{
    {{"hw", "hw"}, {"model", "models"}, {"stack", "stacks"}}};

/// A workload is a trace, or generated, or training. Naming another one than the document's
/// replaces the document's.
bool names_other_workload(const std::string& key, const core::Node& document) {
  if (key != "workload.trace" && key != "workload.training") return false;
  const core::Node* workload = document.find("workload");
  return workload != nullptr && workload->find(key.substr(key.find('.') + 1)) == nullptr;
}

/// Paths in the document become absolute, so that the resolved scenario means the same wherever it
/// is read.
void anchor_paths(core::Node& node) {
  for (auto& [key, value] : node.entries) {
    if ((key == "trace" || key == "empirical") && value.kind == core::Node::Kind::scalar) {
      const std::filesystem::path path = core::path_from(value);
      value.scalar = std::filesystem::absolute(path).lexically_normal().string();
    }
    anchor_paths(value);
  }
}

/// The draft model's reference becomes its document.
void resolve_draft(core::Node& document, const core::ConfigLibrary& library) {
  core::Node* engine = document.find("engine");
  core::Node* config = engine != nullptr ? engine->find("speculative_config") : nullptr;
  core::Node* draft = config != nullptr ? config->find("model") : nullptr;
  if (draft == nullptr || draft->scalar == kNgram) return;
  *draft = workloads::resolve_model(library, *draft, "engine.speculative_config.model");
}

void check_machine_runs_model(const Scenario& s, const core::Reader& in) {
  const auto& speculation = s.engine.speculative_config;
  const workloads::ModelSpec& draft =
      speculation && speculation->draft ? *speculation->draft : s.model;
  for (const hw::Dtype dtype : {s.model.math, s.model.activations, draft.math, draft.activations}) {
    if (!s.gpu.supports(dtype)) {
      in.reject("model", s.gpu.name + " has no matrix rate for " + std::string(hw::name_of(dtype)) +
                             ", in which the model computes; give hw.peak." +
                             std::string(hw::name_of(dtype)) + " or another model.math");
    }
  }
}

/// The GPUs of one exchange stand in one node: those that split every matrix, or two neighbours of
/// a pipeline.
void check_node_holds_engine(const Scenario& s, const core::Reader& in) {
  const workloads::Parallelism& p = s.engine.parallelism;
  const std::string most = "at most hw.interconnect.gpus (" + std::to_string(s.gpu.node.gpus) +
                           (s.gpu.node.libraries.empty() ? ", no interconnect given)" : ")");
  if (p.tensor > s.gpu.node.gpus) in.child("engine").fail("tensor_parallel_size", most);
  if (p.pipeline > 1 && s.gpu.node.gpus < 2)
    in.child("engine").fail("pipeline_parallel_size", most);
  const std::string& library = s.stack.lowering.collectives;
  const auto& libraries = s.gpu.node.libraries;
  const bool has = std::any_of(libraries.begin(), libraries.end(),
                               [&](const auto& one) { return one.name == library; });
  if (p.gpus() > 1 && !has) {
    std::string names;
    for (const auto& one : libraries) names += (names.empty() ? "" : ", ") + one.name;
    std::string way_out =
        libraries.empty() ? "" : "; set stack.lowering.collectives=" + libraries.front().name;
    in.child("engine").reject(p.tensor > 1 ? "tensor_parallel_size" : "pipeline_parallel_size",
                              "the stack's GPUs exchange data through '" + library +
                                  "'; hw.interconnect.libraries of " + s.gpu.name + " has " +
                                  (names.empty() ? "none" : names) + way_out);
  }
}

void check_training_fits_model(const Scenario& s, const core::Reader& in) {
  const auto* training = std::get_if<workloads::TrainingWorkload>(&s.workload);
  if (training == nullptr) return;
  const workloads::ModelSpec& m = s.model;
  if (m.has_experts() || m.is_latent() || m.windowed_layers() > 0 ||
      s.engine.parallelism.gpus() > 1) {
    in.child("workload")
        .reject("training", "training is simulated of dense models with full attention on one GPU");
  }
  in.child("workload")
      .child("training")
      .require(training->sequence <= s.model.max_position, "sequence",
               "at most model.max_position (" + std::to_string(s.model.max_position) + ")");
}

}  // namespace

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw core::ConfigError("--set: expected KEY=VALUE like engine.max_num_seqs=64, got '" + text +
                            "'");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool is_reference(std::string_view key) {
  return std::any_of(kReferences.begin(), kReferences.end(),
                     [&](const Reference& r) { return r.key == key; });
}

core::Node resolve_references(core::Node document, const std::vector<Override>& overrides,
                              const core::ConfigLibrary& library) {
  if (document.kind != core::Node::Kind::map) {
    throw core::ConfigError(document.position.text() + ": expected a scenario (a map), got " +
                            document.describe());
  }
  for (const auto& [key, value] : overrides) {
    if (!is_reference(key)) continue;
    core::set_path(document, key, value, "--set " + key + "=" + value);
    // Another machine has another price.
    if (key == "hw")
      std::erase_if(document.entries, [](const auto& e) { return e.first == kRent; });
  }
  for (const Reference& reference : kReferences) {
    core::Node* node = document.find(reference.key);
    if (node == nullptr) core::Reader(document).fail(reference.key, "a name, a path or a map");
    *node = reference.kind == "models" ? workloads::resolve_model(library, *node, reference.key)
                                       : library.resolve(reference.kind, *node, reference.key);
  }
  resolve_draft(document, library);
  add_rent(document, library);
  if (core::Node* workload = document.find("workload")) anchor_paths(*workload);
  return document;
}

Scenario read_scenario(core::Node document, const std::vector<Override>& overrides,
                       const core::ConfigLibrary& library) {
  document = resolve_references(std::move(document), overrides, library);
  for (const auto& [key, value] : overrides) {
    if (names_other_workload(key, document)) document.find("workload")->entries.clear();
  }
  for (const auto& [key, value] : overrides) {
    if (is_reference(key)) continue;
    core::set_path(document, key, value, "--set " + key + "=" + value);
    if (key.starts_with("engine")) resolve_draft(document, library);  // it may be another one
  }
  if (core::Node* workload = document.find("workload")) anchor_paths(*workload);

  Scenario s;
  s.document = std::move(document);
  const core::Reader in(s.document);
  s.name = in.get<std::string>("name", "scenario");
  s.gpu = hw::read_gpu_spec(in.child("hw"));
  s.model = workloads::read_model_spec(in.child("model"));
  s.stack = workloads::read_stack_spec(in.child("stack"));
  const auto schedulers = scheduler_names();
  if (std::find(schedulers.begin(), schedulers.end(), s.stack.scheduler) == schedulers.end()) {
    in.child("stack").reject("scheduler", "unknown scheduler '" + s.stack.scheduler + "'" +
                                              core::suggestion(s.stack.scheduler, schedulers));
  }
  const core::Node nothing{core::Node::Kind::map, {}, false, {}, {}, s.document.position};
  s.engine = in.has("engine") ? read_engine_spec(in.child("engine"), s.model, s.stack)
                              : read_engine_spec(core::Reader(nothing, "engine"), s.model, s.stack);
  s.workload = workloads::read_workload_spec(in.child("workload"));
  s.seed = in.has("seed") ? static_cast<std::uint64_t>(in.integer("seed", 0, INT64_MAX)) : 0;
  s.usd_per_gpu_hour = in.maybe<double>(kRent);
  in.require(s.usd_per_gpu_hour.value_or(0.0) >= 0.0, kRent, "US dollars, not negative");
  in.finish();
  check_machine_runs_model(s, in);
  check_node_holds_engine(s, in);
  check_training_fits_model(s, in);
  return s;
}

core::Node load_scenario_document(const std::string& name_or_path,
                                  const core::ConfigLibrary& library) {
  std::error_code error;
  if (core::is_path(name_or_path) || std::filesystem::is_regular_file(name_or_path, error)) {
    return library.load("scenarios", name_or_path);
  }
  const auto known = library.names("scenarios");
  if (std::find(known.begin(), known.end(), name_or_path) == known.end()) {
    throw core::ConfigError("scenario: unknown name '" + name_or_path + "'" +
                            core::suggestion(name_or_path, known));
  }
  return library.load("scenarios", library.root() / "scenarios" / (name_or_path + ".yaml"));
}

Scenario load_scenario(const std::string& name_or_path, const std::vector<Override>& overrides,
                       const core::ConfigLibrary& library) {
  return read_scenario(load_scenario_document(name_or_path, library), overrides, library);
}

}  // namespace ridgeline::sim
