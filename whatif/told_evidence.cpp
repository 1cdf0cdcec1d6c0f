#include "whatif/told_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "core/error.hpp"
#include "diagnosis/evidence_keys.hpp"
#include "diagnosis/model_facts.hpp"
#include "diagnosis/pasted_evidence.hpp"
#include "timeline/readers/input.hpp"
#include "workloads/model_reference.hpp"

namespace ridgeline::whatif {
namespace {

constexpr std::uint64_t kLargestText = std::uint64_t{256} << 20U;  // far more than people paste

diagnosis::EvidenceDocument read_typed(const core::Node& document,
                                       const core::ConfigLibrary& library) {
  return diagnosis::read_evidence_document(document, library, [&](const core::Node& reference) {
    const core::Node node = workloads::resolve_model(library, reference);
    const core::Reader in(node, "model");
    const workloads::ModelSpec model = workloads::read_model_spec(in);
    in.finish();
    return diagnosis::model_facts(model, model.activations);
  });
}

void refuse_scenario(const core::Node& document, const std::string& name) {
  for (const char* key : {"hw", "stack", "workload"}) {
    if (document.find(key) != nullptr) {
      throw core::ConfigError(fmt::format(
          "{0}: a scenario (it has '{1}'), not evidence; 'ridgeline run {0}' takes it", name, key));
    }
  }
}

bool has_key_of_evidence(const core::Node& document) {
  std::vector<std::string_view> known(diagnosis::evidence_sections());
  for (const char* key : {"devices", "kernels", "trials", "sweep", "symptoms", "proposals", "title",
                          "text", "texts", "hw", "stack", "workload"})
    known.emplace_back(key);
  return std::any_of(known.begin(), known.end(),
                     [&](std::string_view key) { return document.find(key) != nullptr; });
}

bool ends_like_yaml(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

}  // namespace

diagnosis::Evidence read_typed_evidence(const core::Node& document,
                                        const core::ConfigLibrary& library) {
  return read_typed(document, library).evidence;
}

diagnosis::EvidenceDocument read_told(std::string_view text, const std::string& name,
                                      const core::ConfigLibrary& library) {
  std::optional<core::Node> document;
  std::exception_ptr no_yaml;
  try {
    document = core::parse_yaml(text, name);
  } catch (const core::ConfigError&) {
    if (ends_like_yaml(name)) throw;
    no_yaml = std::current_exception();
  }
  if (document && (ends_like_yaml(name) || has_key_of_evidence(*document))) {
    refuse_scenario(*document, name);
    return read_typed(*document, library);
  }
  diagnosis::PastedEvidence pasted =
      diagnosis::evidence_from_pasted(diagnosis::read_pasted(text), name, library);
  if (!pasted.any()) {
    if (no_yaml) std::rethrow_exception(no_yaml);
    throw core::ConfigError(name +
                            ": neither evidence as YAML nor text of a known format; see 'ridgeline "
                            "evidence new' and 'ridgeline evidence formats'");
  }
  diagnosis::EvidenceDocument out = read_typed(pasted.document, library);
  out.notes.insert(out.notes.begin(), pasted.notes.begin(), pasted.notes.end());
  return out;
}

diagnosis::EvidenceDocument open_told(const std::filesystem::path& path,
                                      const core::ConfigLibrary& library) {
  const std::string name = path == "-" ? "standard input" : path.string();
  if (ends_like_yaml(name)) return read_told(core::read_text_file(path), name, library);
  const auto text = timeline::load_input(path, name, kLargestText);
  diagnosis::EvidenceDocument out = read_told(text.view(), name, library);
  out.notes.insert(out.notes.begin(), text.notes.begin(), text.notes.end());
  return out;
}

diagnosis::Evidence load_evidence_file(const std::filesystem::path& path,
                                       const core::ConfigLibrary& library) {
  return open_told(path, library).evidence;
}

}  // namespace ridgeline::whatif
