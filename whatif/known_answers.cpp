#include "whatif/known_answers.hpp"

#include <algorithm>

#include "core/reader.hpp"
#include "diagnosis/fixes/table.hpp"

namespace ridgeline::whatif {
namespace {

std::vector<diagnosis::Regime> read_regimes(const core::Reader& in) {
  const std::vector<std::string> known(diagnosis::kRegimeNames.begin(),
                                       diagnosis::kRegimeNames.end());
  std::vector<diagnosis::Regime> out;
  for (const std::string& word : in.words("regimes")) {
    const auto it = std::find(known.begin(), known.end(), word);
    if (it == known.end())
      in.reject("regimes", "unknown regime '" + word + "'" + core::suggestion(word, known));
    out.push_back(static_cast<diagnosis::Regime>(it - known.begin()));
  }
  return out;
}

std::vector<std::string> read_fixes(const core::Reader& in, std::string_view key) {
  if (!in.has(key)) return {};
  std::vector<std::string> out = in.words(key);
  for (const std::string& name : out) {
    if (diagnosis::find_fix(name) == nullptr)
      in.reject(key, "unknown fix '" + name + "'" + core::suggestion(name, diagnosis::fix_names()));
  }
  return out;
}

}  // namespace

std::vector<KnownAnswer> read_known_answers(const core::ConfigLibrary& library,
                                            const std::string& kind) {
  const std::filesystem::path folder = library.root() / kind;  // of the evidence
  const core::Node document = core::load_yaml(library.root() / "truth" / (kind + ".yaml"));
  const core::Reader all(document);
  std::vector<KnownAnswer> out;
  for (const std::string& name : all.keys()) {
    const core::Reader in = all.child(name);
    KnownAnswer truth;
    truth.name = name;
    truth.path = in.has("path") ? std::filesystem::path(in.get<std::string>("path"))
                                : folder / (name + ".evidence.yaml");
    truth.hw = in.get<std::string>("hw", "");
    truth.model = in.get<std::string>("model", "");
    truth.regimes = read_regimes(in);
    truth.fixes = read_fixes(in, "fixes");
    truth.rejects = read_fixes(in, "rejects");
    truth.inconsistent = in.get<bool>("inconsistent", false);
    static_cast<void>(in.get<std::string>("note", ""));
    static_cast<void>(in.get<std::string>("source", ""));
    out.push_back(std::move(truth));
  }
  all.finish();
  return out;
}

}  // namespace ridgeline::whatif
