#include "diagnosis/evidence_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/evidence_keys.hpp"
#include "diagnosis/fixes/table.hpp"
#include "diagnosis/pasted/pasted.hpp"
#include "diagnosis/pasted_evidence.hpp"
#include "diagnosis/quantity_reader.hpp"
#include "diagnosis/stored_format.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"
#include "timeline/classify.hpp"

namespace ridgeline::diagnosis {
namespace {

using core::Dimension;
using core::Node;
using core::Reader;

/// The words of an enumeration, in its order.
template <class E, std::size_t N>
std::vector<core::Choice<E>> choices_of(const std::array<std::string_view, N>& names) {
  std::vector<core::Choice<E>> out;
  for (std::size_t i = 0; i < N; ++i) out.push_back({names[i], static_cast<E>(i)});
  return out;
}

/// Fills in what the map holds of one section; true when it held anything.
bool read_section(const Reader& in, std::string_view section, Evidence& out) {
  bool any = false;
  for (const Field& field : evidence_fields()) {
    if (field.section != section) continue;
    const std::string_view key = key_of(in.node(), field.key);
    if (key.empty()) continue;
    field.at(out) = read_value(in, key, field);
    any = true;
  }
  return any;
}

/// How many devices share the model, under any of its names; people know it as an argument of the
/// engine.
bool read_devices(const Reader& in, Evidence& out) {
  const std::string_view key = key_of(in.node(), "devices");
  if (key.empty()) return false;
  out.machine.devices = read_value(in, key, Dimension::none, true);
  return true;
}

/// The node without the facts that evidence lays over a configuration, and those facts alone.
std::pair<Node, Node> split_facts(const Node& node, std::string_view section) {
  Node base = node;
  Node facts = node;
  const auto is_fact = [&](const auto& entry) {
    const Field* field = find_field(std::string(section) + "." + entry.first);
    return field != nullptr;
  };
  std::erase_if(base.entries, is_fact);
  std::erase_if(facts.entries, [&](const auto& entry) { return !is_fact(entry); });
  return {base, facts};
}

bool names_a_base(const Node& node) {
  return node.kind != Node::Kind::map || node.find("base") != nullptr;
}

void read_machine(const Reader& root, const core::ConfigLibrary& library, Evidence& out) {
  const Node& node = root.raw("machine");
  if (names_a_base(node)) {
    const auto [base, facts] =
        node.kind == Node::Kind::map ? split_facts(node, "machine") : std::pair(node, Node{});
    const Node whole = library.resolve("hw", base, "machine");
    const Reader gpu(whole, "machine");
    out.machine = machine_from(hw::read_gpu_spec(gpu));
    gpu.finish();
    if (facts.kind == Node::Kind::map) {
      const Reader in(facts, "machine");
      read_section(in, "machine", out);
      in.finish();
    }
    return;
  }
  if (node.kind != Node::Kind::map) root.fail("machine", "a name or a map");
  const Reader in(node, "machine");
  reject_unknown(in, "machine");
  out.machine.name = in.get<std::string>("name", "");
  if (in.has("peak")) {
    const Reader peak = in.child("peak");
    for (const std::string& key : peak.keys()) {
      std::vector<std::string> names;
      std::optional<hw::Dtype> dtype;
      for (const auto& choice : hw::dtype_names()) {
        names.emplace_back(choice.name);
        if (choice.name == key) dtype = choice.value;
      }
      if (!dtype) peak.reject_key(key, "unknown dtype" + core::suggestion(key, names));
      out.machine.peak.emplace(*dtype, read_value(peak, key, Dimension::flop_per_second, false));
    }
  }
  read_section(in, "machine", out);
  in.finish();
}

void read_dtypes(const Reader& in, Model& model) {
  const auto at = [&](std::string_view key, std::optional<hw::Dtype>& dtype) {
    if (!in.has(key)) return;
    dtype = dtype_called(in.get<std::string>(key));  // as frameworks write it, too
    if (!dtype) dtype = in.choice(key, hw::dtype_names());
  };
  at("weight_dtype", model.weight_dtype);
  at("activation_dtype", model.activation_dtype);
  at("kv_cache_dtype", model.kv_cache_dtype);
}

/// A file of another size than the configuration's weights is in other bits: Q4_K_M is 4.8 a
/// weight.
void take_dtype_of_bytes(Model& model) {
  if (!model.parameters || !model.weight_bytes) return;
  const double each = model.weight_bytes->best / model.parameters->best;
  if (each < 0.75)
    model.weight_dtype = hw::Dtype::int4;
  else if (each < 1.5)
    model.weight_dtype = hw::Dtype::int8;
}

void read_model(const Reader& root, const ModelByName& model_by_name, Evidence& out) {
  const Node& node = root.raw("model");
  const auto is_dtype = [](const auto& entry) {
    return entry.first == "weight_dtype" || entry.first == "activation_dtype" ||
           entry.first == "kv_cache_dtype";
  };
  if (names_a_base(node)) {
    if (!model_by_name)
      root.fail("model", "a map of facts (parameters, weight_bytes, layers, ...)");
    auto [base, facts] =
        node.kind == Node::Kind::map ? split_facts(node, "model") : std::pair(node, Node{});
    Node dtypes = base;
    std::erase_if(base.entries, is_dtype);
    std::erase_if(dtypes.entries, [&](const auto& entry) { return !is_dtype(entry); });
    out.model = model_by_name(base);
    if (dtypes.kind == Node::Kind::map) {
      const Model as_loaded = out.model;
      read_dtypes(Reader(dtypes, "model"), out.model);
      // Other bits than the configuration's: its byte count is of other weights.
      if (out.model.weight_dtype != as_loaded.weight_dtype && as_loaded.parameters) {
        out.model.weight_bytes =
            *as_loaded.parameters * Value(hw::bytes_of(*out.model.weight_dtype).value());
      }
    }
    if (facts.kind == Node::Kind::map) {
      const Reader in(facts, "model");
      read_section(in, "model", out);
      in.finish();
      if (in.has("weight_bytes") && dtypes.entries.empty()) take_dtype_of_bytes(out.model);
    }
    return;
  }
  const Reader in(node, "model");
  reject_unknown(in, "model");
  out.model.name = in.get<std::string>("name", "");
  read_dtypes(in, out.model);
  read_section(in, "model", out);
  in.finish();
}

void read_kernel_time(const Reader& profile, Profile& out) {
  const Reader in = profile.child("kernel_time");
  double sum_low = 0.0;
  for (const std::string& key : in.keys()) {
    std::vector<std::string> names(kKernelGroupNames.begin(), kKernelGroupNames.end());
    const auto it = std::find(names.begin(), names.end(), key);
    if (it == names.end())
      in.reject_key(key, "unknown kernel class" + core::suggestion(key, names));
    const Value share = read_value(in, key, Dimension::fraction, false);
    sum_low += share.low();
    out.kernel_time.emplace(static_cast<KernelGroup>(it - names.begin()), share);
  }
  constexpr double kRounding = 1e-9;
  if (sum_low > 1.0 + kRounding)
    profile.reject("kernel_time",
                   fmt::format("the shares add up to at least {:.0f} %, more than all of it",
                               100.0 * sum_low));
}

void read_kernels(const Reader& root, Evidence& out) {
  for (const Reader& in : root.list("kernels")) {
    KernelRow row;
    row.name = in.get<std::string>("name", "");
    in.require(!row.name.empty() || in.has("group"), "name", "a kernel's name, or its group");
    row.group = in.has("group") ? in.choice("group", choices_of<KernelGroup>(kKernelGroupNames))
                                : group_of(timeline::classify(row.name).cls);
    const auto at = [&](std::string_view key, Dimension dimension, bool whole, Maybe& value) {
      if (in.has(key)) value = read_value(in, key, dimension, whole);
    };
    at("calls", Dimension::none, true, row.calls);
    at("time", Dimension::time, false, row.time);
    at("share", Dimension::fraction, false, row.share);
    at("bytes", Dimension::bytes, false, row.bytes);
    at("flop", Dimension::flop, false, row.flop);
    at("occupied", Dimension::fraction, false, row.occupied);
    if (in.has(
            "rate")) {  // of a matrix kernel: its FLOP follow from its time, or are of one second
      const Value rate = read_value(in, "rate", Dimension::flop_per_second, false);
      if (!row.time) row.time = Value(1.0).as(Origin::derived);
      row.flop = rate * *row.time;
    }
    in.require(row.time || row.share, "time", "its time, share or rate");
    out.kernels.push_back(std::move(row));
  }
}

/// Old over new for times, new over old for rates.
std::vector<Trial::Effect> effects_of(const Evidence& before, const Evidence& after) {
  std::vector<Trial::Effect> out;
  Evidence b = before;
  Evidence a = after;
  for (const Field& field : evidence_fields()) {
    if (field.section != "measured") continue;
    const Maybe& old_value = field.at(b);
    const Maybe& new_value = field.at(a);
    if (!old_value || !new_value) continue;
    const bool time = field.dimension == Dimension::time || field.dimension == Dimension::bytes;
    out.push_back(
        {std::string(field.key), time ? *old_value / *new_value : *new_value / *old_value});
  }
  return out;
}

void read_trials(const Reader& root, Evidence& out) {
  std::size_t index = 0;
  for (const Reader& in : root.list("trials")) {
    Trial trial;
    trial.from = fmt::format("trials[{}]", index++);
    trial.change = in.get<std::string>("change");
    if (find_change(trial.change) == nullptr) {
      in.reject("change", "unknown change '" + trial.change + "'" +
                              core::suggestion(trial.change, change_names()));
    }
    trial.when = in.get<std::string>("when", "");
    trial.with = in.get<bool>("in_place", false);
    if (in.has("before") || in.has("after")) {
      Evidence before;
      Evidence after;
      const Reader b = in.child("before");
      const Reader a = in.child("after");
      read_section(b, "measured", before);
      read_section(a, "measured", after);
      trial.effects = effects_of(before, after);
      if (trial.effects.empty())
        in.fail("after", "a quantity under 'measured' that 'before' has too");
    }
    if (in.has("speedup"))
      trial.effects.push_back({"speedup", read_value(in, "speedup", Dimension::none, false)});
    if (in.has("slowdown")) {
      trial.effects.push_back(
          {"speedup", Value(1.0) / read_value(in, "slowdown", Dimension::none, false)});
    }
    in.require(!trial.effects.empty(), "speedup", "what came of it: before and after, or speedup");
    for (Trial::Effect& effect : trial.effects) {
      effect.gain.from = trial.from;
      effect.gain.origin = Origin::given;
    }
    out.trials.push_back(std::move(trial));
  }
}

[[noreturn]] void reject_in_sweep(const Reader& in, const std::string& key) {
  std::vector<std::string> names;
  for (const Field& field : evidence_fields()) names.emplace_back(field.key);
  for (const std::string_view section : evidence_sections()) {
    for (const EvidenceKey& known : evidence_keys(section)) {
      if (known.key == key)
        in.reject_key(key, "a point of a sweep holds quantities only; what a change of " + key +
                               " brought goes under 'trials'");
    }
  }
  in.reject_key(key, "unknown quantity" + core::suggestion(key, names));
}

/// Each point is the evidence with some quantities replaced; keys of any section, with or without
/// it.
void read_sweep(const Reader& root, Evidence& out) {
  for (const Reader& in : root.list("sweep")) {
    Evidence point = out;
    point.sweep.clear();
    bool any = false;
    for (const std::string& key : in.keys()) {
      const Field* field = find_field(own_name(key));
      if (field == nullptr) reject_in_sweep(in, key);
      field->at(point) = read_value(in, key, *field);
      any = true;
    }
    if (!any) root.fail("sweep", "points with quantities in them");
    out.sweep.push_back(std::move(point));
  }
  if (out.sweep.size() < 2) root.fail("sweep", "two points at least");
  // The last point is the one in question: what the evidence does not say elsewhere it says there.
  for (const Field& field : evidence_fields()) {
    if (!field.at(out)) field.at(out) = field.at(out.sweep.back());
  }
}

void read_words(const Reader& in, Evidence& out) {
  const auto each = [&](std::string_view key, const auto& known,
                        const std::vector<std::string>& names, std::string_view what) {
    if (!in.has(key)) return std::vector<std::string>{};
    const std::vector<std::string> words = in.words(key);
    for (const std::string& word : words) {
      if (!known(word))
        in.reject(key, fmt::format("unknown {} '{}'", what, word) + core::suggestion(word, names));
    }
    return words;
  };
  out.symptoms = each(
      "symptoms", [](const std::string& w) { return find_symptom(w) != nullptr; }, symptom_names(),
      "symptom");
  out.proposals = each(
      "proposals", [](const std::string& w) { return find_fix(w) != nullptr; }, fix_names(), "fix");
}

/// What stands in a map by itself, or in nothing that was written: `serving:`.
Node without_empty_sections(Node document) {
  std::erase_if(document.entries,
                [](const auto& entry) { return entry.second.kind == Node::Kind::null; });
  return document;
}

/// The document with the facts of its pasted text laid under what is typed.
Node with_text(Node document, const core::ConfigLibrary& library, std::vector<std::string>& notes) {
  std::vector<Node> texts;
  for (const std::string_view key : {"text", "texts"}) {
    const Node* node = document.find(key);
    if (node == nullptr) continue;
    const std::vector<Node> several =
        node->kind == Node::Kind::list ? node->items : std::vector<Node>{*node};
    texts.insert(texts.end(), several.begin(), several.end());
  }
  std::erase_if(document.entries,
                [](const auto& entry) { return entry.first == "text" || entry.first == "texts"; });
  std::size_t number = 0;
  for (const Node& text : texts) {
    ++number;
    if (text.kind != Node::Kind::scalar) {
      throw core::ConfigError(text.position.text() + ": text: expected text, got " +
                              text.describe());
    }
    const std::string file = text.position.file ? *text.position.file : "document";
    const std::string name =
        texts.size() > 1 ? fmt::format("{}, text {}", file, number) : fmt::format("{}, text", file);
    PastedEvidence pasted = evidence_from_pasted(read_pasted(text.scalar), name, library);
    notes.insert(notes.end(), pasted.notes.begin(), pasted.notes.end());
    document = laid_under(std::move(pasted.document), document, library, notes);
  }
  return document;
}

Evidence read_document(const Node& document, const core::ConfigLibrary& library,
                       const ModelByName& model_by_name) {
  const Reader in(document);
  Evidence out;
  out.title = in.get<std::string>("title", "");
  static_cast<void>(in.get<std::string>("source", ""));
  if (in.has("machine")) read_machine(in, library, out);
  if (in.has("model")) read_model(in, model_by_name, out);
  bool any = in.has("machine") || in.has("model");
  for (const std::string_view section : {"engine", "serving", "memory", "measured", "profile"}) {
    if (!in.has(section)) continue;
    if (in.node().find(section)->kind != Node::Kind::map) in.fail(section, "a map");
    const Reader part = in.child(section);
    const bool has_devices = section == "engine" || section == "serving";
    reject_unknown(part, section,
                   has_devices ? std::vector<std::string>{"devices", "tensor_parallel_size"}
                               : std::vector<std::string>{});
    any = read_section(part, section, out) || any;
    if (has_devices) any = read_devices(part, out) || any;
    if (section == "engine") {
      out.engine.name = part.get<std::string>("name", "");
      out.engine.enforce_eager = part.maybe<bool>("enforce_eager");
      out.engine.enable_prefix_caching = part.maybe<bool>("enable_prefix_caching");
      out.engine.async_scheduling = part.maybe<bool>("async_scheduling");
    }
    if (section == "serving" && part.has("arrivals"))
      out.serving.arrivals = part.choice("arrivals", choices_of<Arrivals>(kArrivalsNames));
    if (section == "profile") {
      if (part.has("window"))
        out.profile.window = part.choice("window", choices_of<Window>(kWindowNames));
      if (part.has("kernel_time")) read_kernel_time(part, out.profile);
      any = any || !out.profile.kernel_time.empty();
    }
  }
  any = read_devices(in, out) || any;
  if (in.has("kernels")) read_kernels(in, out);
  if (in.has("trials")) read_trials(in, out);
  read_words(in, out);
  if (in.has("sweep")) read_sweep(in, out);
  reject_unknown(in, "",
                 {"machine", "model", "engine", "serving", "memory", "measured", "profile",
                  "kernels", "trials", "sweep", "symptoms", "proposals", "text", "texts"});
  in.finish();
  any = any || !out.kernels.empty() || !out.trials.empty() || !out.sweep.empty() ||
        !out.symptoms.empty();
  if (!any) {
    throw core::ConfigError(document.position.text() +
                            ": document: expected at least one fact (machine, model, serving, "
                            "measured or profile), got none");
  }
  return out;
}

}  // namespace

EvidenceDocument read_evidence_document(const Node& document, const core::ConfigLibrary& library,
                                        const ModelByName& model_by_name) {
  EvidenceDocument out;
  out.document = with_text(without_empty_sections(document), library, out.notes);
  out.evidence = read_document(out.document, library, model_by_name);
  return out;
}

Evidence read_evidence(const Node& document, const core::ConfigLibrary& library,
                       const ModelByName& model_by_name) {
  return read_evidence_document(document, library, model_by_name).evidence;
}

Evidence load_evidence(const std::filesystem::path& path, const core::ConfigLibrary& library,
                       const ModelByName& model_by_name) {
  return read_evidence(core::load_yaml(path), library, model_by_name);
}

}  // namespace ridgeline::diagnosis
