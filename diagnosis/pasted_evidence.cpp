#include "diagnosis/pasted_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "core/error.hpp"
#include "core/lower.hpp"
#include "diagnosis/evidence_yaml.hpp"
#include "diagnosis/pasted/pasted_json.hpp"
#include "diagnosis/quantity_reader.hpp"
#include "diagnosis/stored_format.hpp"
#include "hw/machine_names.hpp"
#include "workloads/model_names.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Node;

/// Fields that a pasted fact says under another name; of several, the first that is there counts.
struct Rename {
  std::string_view field;
  std::string_view fact;
};
constexpr Rename kRenames[]{
    // A request's mean over its tokens counts a burst of tokens once each; gaps between chunks
    // count it once.
    {"measured.itl", "measured.tpot"},
    {"measured.itl", "measured.tpot_median"},
    {"measured.itl", "measured.itl_median"},
    {"measured.itl_p99", "measured.tpot_p99"},
    {"measured.ttft", "measured.ttft_median"},
    {"measured.latency", "measured.e2e"},
    {"measured.latency", "measured.e2e_median"},
    {"serving.concurrency", "serving.max_concurrency"},
    {"engine.gpu_layers", "engine.offloaded_layers"},
    {"engine.speculative_tokens", "engine.num_speculative_tokens"},
    {"engine.accepted_tokens", "serving.acceptance_length"},
    {"memory.host_weight_bytes", "memory.weights_on_host"},
};

/// Said elsewhere in the document, or of no use to anybody who diagnoses.
constexpr std::string_view kTakenElsewhere[]{"machine.name",
                                             "model.name",
                                             "engine.version",
                                             "engine.quantization",
                                             "engine.dtype",
                                             "engine.kv_cache_dtype",
                                             "engine.cache_type_k",
                                             "engine.cache_type_v",
                                             "engine.enforce_eager",
                                             "engine.enable_prefix_caching",
                                             "engine.async_scheduling",
                                             "engine.cuda_graphs",
                                             "engine.tensor_parallel_size",
                                             "engine.pipeline_parallel_size",
                                             "engine.moe_config",
                                             "engine.untuned_gemms",
                                             "engine.attention_backend",
                                             "engine.cpu_offload_gb",
                                             "serving.arrivals",
                                             "serving.total_prompt_tokens",
                                             "serving.total_output_tokens",
                                             "memory.kv_blocks",
                                             "memory.kv_bytes",
                                             "devices",
                                             "profile.kernel_time_total"};

bool is_taken_elsewhere(std::string_view key) {
  return std::find(std::begin(kTakenElsewhere), std::end(kTakenElsewhere), key) !=
         std::end(kTakenElsewhere);
}

Node scalar_at(std::string text, const core::Position& position) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.scalar = std::move(text);
  node.position = position;
  node.key_position = position;
  return node;
}

class Document {
 public:
  Document(const Pasted& pasted, const std::string& name, const core::ConfigLibrary& library)
      : pasted_(pasted), file_(std::make_shared<const std::string>(name)), library_(library) {
    out_.document.kind = Node::Kind::map;
    out_.document.position = at(0);
  }

  PastedEvidence written() {
    for (const std::string& note : pasted_.notes) out_.notes.push_back(printable(note));
    name_machine();
    name_model();
    put_fields();
    put_words();
    put_dtypes();
    put_device_memory();
    put_symptoms();
    put_kernels();
    tell_unused();
    return std::move(out_);
  }

 private:
  [[nodiscard]] core::Position at(int line) const { return {file_, line, line > 0 ? 1 : 0}; }

  [[nodiscard]] const PastedFact* find(std::string_view key) const {
    const auto it = std::find_if(pasted_.facts.begin(), pasted_.facts.end(),
                                 [&](const PastedFact& fact) { return fact.key == key; });
    return it == pasted_.facts.end() ? nullptr : &*it;
  }

  Node& section(std::string_view name, const PastedFact& fact) {
    if (Node* there = out_.document.find(name)) return *there;
    Node node;
    node.kind = Node::Kind::map;
    node.position = at(fact.line_number);
    node.key_position = node.position;
    out_.document.entries.emplace_back(std::string(name), std::move(node));
    return out_.document.entries.back().second;
  }

  void put(std::string_view in, std::string_view key, std::string text, const PastedFact& fact) {
    Node& map = section(in, fact);
    if (map.find(key) == nullptr)
      map.entries.emplace_back(std::string(key), scalar_at(std::move(text), at(fact.line_number)));
  }

  /// What a fact is as a quantity; a note where it is none.
  std::optional<Value> quantity(const Field& field, const PastedFact& fact) {
    Node map;
    map.kind = Node::Kind::map;
    map.entries.emplace_back(std::string(field.key), scalar_at(fact.value, at(fact.line_number)));
    try {
      return read_value(core::Reader(map, std::string(field.section)), field.key, field);
    } catch (const core::ConfigError& error) {
      out_.notes.emplace_back(std::string("not taken: ") + error.what());
      return std::nullopt;
    }
  }

  void put_field(const Field& field, const PastedFact& fact) {
    if (quantity(field, fact)) put(field.section, field.key, fact.value, fact);
    used_.insert(fact.key);
  }

  void put_fields() {
    for (const Rename& rename : kRenames) {
      const PastedFact* fact = find(rename.fact);
      const bool better = rename.fact == "measured.tpot" || find(rename.field) == nullptr;
      if (fact == nullptr) continue;
      used_.insert(fact->key);
      if (better && !offered_openly(rename.fact)) put_field(*find_field(rename.field), *fact);
    }
    for (const PastedFact& fact : pasted_.facts) {
      const Field* field = find_field(fact.key);
      if (field != nullptr && field->path() == fact.key && !is_taken_elsewhere(fact.key))
        put_field(*field, fact);
    }
    if (const PastedFact* fact = find("devices")) {
      if (quantity(*find_field("machine.devices"), *fact))
        out_.document.entries.emplace_back("devices",
                                           scalar_at(fact->value, at(fact->line_number)));
    }
  }

  /// A limit is what runs together only where the client keeps it full.
  [[nodiscard]] bool offered_openly(std::string_view fact) const {
    const PastedFact* arrivals = find("serving.arrivals");
    return fact == "serving.max_concurrency" && arrivals != nullptr && arrivals->value == "open";
  }

  void name_machine() {
    const PastedFact* fact = find("machine.name");
    if (fact == nullptr) return;
    const std::string known = hw::MachineNames(library_).in(fact->value);
    put("machine", known.empty() ? "name" : "base", known.empty() ? fact->value : known, *fact);
    if (known.empty())
      out_.notes.push_back(
          fmt::format("line {}: '{}' is no machine that is shipped; its bandwidth, "
                      "capacity and peak are needed",
                      fact->line_number, printable(fact->value)));
  }

  void name_model() {
    const PastedFact* fact = find("model.name");
    if (fact == nullptr) return;
    const auto known = workloads::ModelNames(library_).in(fact->value);
    put("model", known ? "base" : "name", known ? known->name : fact->value, *fact);
    if (!known)
      out_.notes.push_back(
          fmt::format("line {}: '{}' is no model that is shipped; its parameters "
                      "and dtype are needed",
                      fact->line_number, printable(fact->value)));
  }

  void put_words() {
    if (const PastedFact* fact = find("engine.version"))
      put("engine", "name", "vllm " + fact->value, *fact);
    if (const PastedFact* fact = find("serving.arrivals"))
      put("serving", "arrivals", fact->value, *fact);
    for (const std::string_view key :
         {"enforce_eager", "enable_prefix_caching", "async_scheduling"}) {
      const PastedFact* fact = find("engine." + std::string(key));
      if (fact != nullptr && (fact->value == "true" || fact->value == "false"))
        put("engine", key, fact->value, *fact);
    }
    const PastedFact* graphs = find("engine.cuda_graphs");
    if (graphs != nullptr && (graphs->value == "true" || graphs->value == "false"))
      put("engine", "enforce_eager", graphs->value == "true" ? "false" : "true", *graphs);
  }

  void put_dtype(std::string_view key, hw::Dtype dtype, const PastedFact& fact) {
    put("model", key, std::string(hw::name_of(dtype)), fact);
  }

  void put_dtypes() {
    const PastedFact* method = find("engine.quantization");
    const PastedFact* name = find("model.name");
    std::optional<StoredFormat> format;
    const PastedFact* from = method;
    if (method != nullptr) format = stored_format(method->value);
    if (!format && name != nullptr) {
      from = name;
      format = stored_format(workloads::words_of_checkpoint(name->value));
    }
    if (format) {
      put_dtype("weight_dtype", format->weights, *from);
      if (format->activations) put_dtype("activation_dtype", *format->activations, *from);
    } else if (method != nullptr) {
      out_.notes.push_back(
          fmt::format("line {}: quantization '{}' does not say the dtype of the "
                      "weights; model.weight_dtype does",
                      method->line_number, printable(method->value)));
    }
    // A shipped model knows its own; some are published in fewer bits than they are computed in.
    const Node* model = out_.document.find("model");
    const bool shipped = model != nullptr && model->find("base") != nullptr;
    if (const PastedFact* fact = find("engine.dtype"); fact != nullptr && !shipped) {
      const auto dtype = dtype_called(fact->value);
      if (dtype && !format) put_dtype("weight_dtype", *dtype, *fact);
      if (dtype) put_dtype("activation_dtype", *dtype, *fact);
    }
    for (const std::string_view key : {"engine.kv_cache_dtype", "engine.cache_type_k"}) {
      const PastedFact* fact = find(key);
      const auto dtype = fact != nullptr ? dtype_called(fact->value) : std::nullopt;
      if (dtype) put_dtype("kv_cache_dtype", *dtype, *fact);
    }
  }

  /// Logs speak of one device, evidence of all that share the model.
  void put_device_memory() {
    const PastedFact* devices = find("devices");
    const auto count = devices != nullptr
                           ? core::parse_quantity(devices->value, core::Dimension::none)
                           : std::optional(1.0);
    if (!count) return;
    const auto put_all = [&](std::string_view field, const PastedFact* fact) {
      if (fact == nullptr) return;
      const auto one = quantity(*find_field(field), *fact);
      if (!one) return;
      const Field& place = *find_field(field);
      put(place.section, place.key,
          exact_text((*one * Value(*count)).interval, core::Dimension::bytes), *fact);
    };
    put_all("memory.kv_bytes", find("memory.kv_bytes"));
    if (const PastedFact* offload = find("engine.cpu_offload_gb")) {
      PastedFact bytes = *offload;  // vLLM counts GiB, a device
      bytes.value += " GiB";
      if (core::parse_quantity(offload->value, core::Dimension::none).value_or(0.0) > 0.0)
        put_all("memory.host_weight_bytes", &bytes);
    }
  }

  void put_symptoms() {
    Node list;
    list.kind = Node::Kind::list;
    const auto put_symptom = [&](std::string_view name, const PastedFact& fact) {
      list.items.push_back(scalar_at(std::string(name), at(fact.line_number)));
    };
    if (const PastedFact* fact = find("engine.untuned_gemms")) put_symptom("untuned_gemm", *fact);
    if (const PastedFact* fact = find("engine.moe_config");
        fact != nullptr && fact->value == "default")
      put_symptom("untuned_moe", *fact);
    if (const PastedFact* fact = find("engine.attention_backend")) {
      const std::string line = core::lower(fact->line);
      for (const std::string_view word : {"cannot use", "fall back", "falling back", "fallback"}) {
        if (line.find(word) == std::string::npos) continue;
        put_symptom("attention_fallback", *fact);
        break;
      }
    }
    if (list.items.empty()) return;
    list.position = list.items.front().position;
    list.key_position = list.position;
    out_.document.entries.emplace_back("symptoms", std::move(list));
  }

  /// Shares of a table's time: how many steps it covers it does not say.
  void put_kernels() {
    std::vector<PastedKernel> rows = pasted_.kernels;
    double total = 0.0;
    for (const PastedKernel& row : rows) total += row.seconds;
    if (!(total > 0.0)) return;
    std::stable_sort(rows.begin(), rows.end(), [](const PastedKernel& a, const PastedKernel& b) {
      return a.seconds > b.seconds;
    });
    constexpr std::size_t kMostRows = 64;  // what lies beyond is not where the time is
    Node list;
    list.kind = Node::Kind::list;
    for (const PastedKernel& row : rows) {
      if (list.items.size() == kMostRows || !(row.seconds > 0.0)) break;
      Node map;
      map.kind = Node::Kind::map;
      map.position = at(row.line_number);
      const auto entry = [&](std::string_view key, std::string text) {
        map.entries.emplace_back(std::string(key), scalar_at(std::move(text), at(row.line_number)));
      };
      entry("name", row.name.empty() ? "unnamed" : row.name);
      entry("share", exact_text(core::Interval(row.seconds / total), core::Dimension::fraction));
      list.items.push_back(std::move(map));
    }
    list.position = list.items.front().position;
    list.key_position = list.position;
    out_.document.entries.emplace_back("kernels", std::move(list));
  }

  void tell_unused() {
    std::string unused;
    for (const PastedFact& fact : pasted_.facts) {
      if (used_.contains(fact.key) || is_taken_elsewhere(fact.key)) continue;
      unused += (unused.empty() ? "" : ", ") + printable(fact.key);
    }
    if (!unused.empty()) out_.notes.push_back("read, and of no use to a diagnosis: " + unused);
    if (!pasted_.unread.empty())
      out_.notes.push_back(
          fmt::format("{} line{} of the text {} not read; 'ridgeline evidence read' "
                      "shows them",
                      pasted_.unread.size(), pasted_.unread.size() == 1 ? "" : "s",
                      pasted_.unread.size() == 1 ? "was" : "were"));
  }

  const Pasted& pasted_;
  std::shared_ptr<const std::string> file_;
  const core::ConfigLibrary& library_;
  PastedEvidence out_;
  std::set<std::string, std::less<>> used_;
};

// ------------------------------------------------------------------------------- laid under typed

class Layers {
 public:
  Layers(const core::ConfigLibrary& library, std::vector<std::string>& notes)
      : library_(library), notes_(notes) {}

  Node laid(Node pasted, Node typed) {
    open_names(pasted, typed);
    drop_devices(pasted, typed);
    for (auto& [name, below] : pasted.entries) {
      Node* above = typed.find(name);
      if (above == nullptr) continue;
      if (name == "symptoms" && above->kind == Node::Kind::list) {
        join_words(below, *above);
      } else if (below.kind == Node::Kind::map && above->kind == Node::Kind::map) {
        drop_said(name, below, *above);
      }
    }
    return core::overlay(std::move(pasted), typed);
  }

 private:
  /// "machine: name" beside more facts of the text is "machine: {base: name}".
  static void open_names(const Node& pasted, Node& typed) {
    for (const std::string_view name : {"machine", "model"}) {
      Node* above = typed.find(name);
      if (above == nullptr || above->kind != Node::Kind::scalar || pasted.find(name) == nullptr)
        continue;
      Node map;
      map.kind = Node::Kind::map;
      map.position = above->position;
      map.key_position = above->key_position;
      map.entries.emplace_back("base", *above);
      *above = std::move(map);
    }
  }

  void drop_devices(Node& pasted, const Node& typed) {
    const Node* below = pasted.find("devices");
    if (below == nullptr) return;
    const Node* above = nullptr;
    const auto look = [&](const Node* map) {
      if (map == nullptr || map->kind != Node::Kind::map || above != nullptr) return;
      const std::string_view key = key_of(*map, "devices");
      if (!key.empty()) above = map->find(key);
    };
    look(&typed);
    for (const std::string_view section : {"machine", "engine", "serving"})
      look(typed.find(section));
    if (above == nullptr) return;
    compare("devices", *find_field("machine.devices"), *below, *above);
    std::erase_if(pasted.entries, [](const auto& entry) { return entry.first == "devices"; });
  }

  static void join_words(const Node& below, Node& above) {
    for (const Node& word : below.items) {
      const bool there = std::any_of(above.items.begin(), above.items.end(),
                                     [&](const Node& w) { return w.scalar == word.scalar; });
      if (!there) above.items.push_back(word);
    }
  }

  void drop_said(const std::string& section, Node& below, const Node& above) {
    const bool named = above.find("base") != nullptr || above.find("name") != nullptr;
    std::erase_if(below.entries, [&](const auto& entry) {
      const auto& [key, value] = entry;
      if (named && (key == "base" || key == "name")) {
        if (section == "machine" || section == "model") compare_names(section, value, above);
        return true;
      }
      const std::string_view typed_key = key_of(above, own_name(key));
      if (typed_key.empty()) return false;
      const Node& said = *above.find(typed_key);
      const Field* field = find_field(section + "." + key);
      if (field != nullptr) {
        compare(section + "." + key, *field, value, said);
      } else if (said.scalar != value.scalar && said.kind == Node::Kind::scalar) {
        differ(section + "." + key, value, said);
      }
      return true;
    });
  }

  void compare(const std::string& path, const Field& field, const Node& below, const Node& above) {
    const auto bounds = [&](const Node& node) {
      return core::parse_interval(plainly_written(node.scalar, field.dimension), field.dimension);
    };
    const auto a = bounds(below);
    const auto b = bounds(above);
    constexpr double kRounding = 1e-9;
    const bool meet =
        a && b && a->low <= b->high * (1.0 + kRounding) && b->low <= a->high * (1.0 + kRounding);
    if (a && b && !meet) differ(path, below, above);
  }

  void compare_names(const std::string& section, const Node& below, const Node& above) {
    const Node* said = above.find("base") != nullptr ? above.find("base") : above.find("name");
    if (said->kind != Node::Kind::scalar || said->scalar == below.scalar) return;
    const char* kind = section == "machine" ? "hw" : "models";
    const std::string typed = section == "machine"
                                  ? hw::MachineNames(library_).in(said->scalar)
                                  : library_.called(kind, said->scalar).value_or("");
    const bool other =
        !typed.empty() && library_.called(kind, below.scalar).has_value() && typed != below.scalar;
    if (other) differ(section, below, *said);
  }

  void differ(const std::string& path, const Node& below, const Node& above) {
    notes_.push_back(fmt::format("{}: {} says {}, {} says {}; what is typed is taken", path,
                                 above.position.text(), above.scalar, below.position.text(),
                                 below.scalar));
  }

  const core::ConfigLibrary& library_;
  std::vector<std::string>& notes_;
};

}  // namespace

PastedEvidence evidence_from_pasted(const Pasted& pasted, const std::string& name,
                                    const core::ConfigLibrary& library) {
  return Document(pasted, name, library).written();
}

Node laid_under(Node pasted, Node typed, const core::ConfigLibrary& library,
                std::vector<std::string>& notes) {
  return Layers(library, notes).laid(std::move(pasted), std::move(typed));
}

}  // namespace ridgeline::diagnosis
