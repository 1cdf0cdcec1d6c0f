#include "whatif/exercise/report_truth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/reader.hpp"
#include "diagnosis/fixes/table.hpp"

namespace ridgeline::whatif {
namespace {

constexpr std::string_view kEvidence = ".evidence.yaml";

std::vector<std::string> words(const core::Reader& in, std::string_view key) {
  return in.has(key) ? in.words(key) : std::vector<std::string>{};
}

diagnosis::Regime regime_named(const core::Reader& in, const std::string& name) {
  const auto& names = diagnosis::kRegimeNames;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) {
    in.reject("regimes", fmt::format("unknown regime '{}'", name) +
                             core::suggestion(name, {names.begin(), names.end()}));
  }
  return static_cast<diagnosis::Regime>(it - names.begin());
}

std::vector<std::string> fixes(const core::Reader& in, std::string_view key) {
  std::vector<std::string> out = words(in, key);
  for (const std::string& name : out) {
    if (diagnosis::find_fix(name) == nullptr) {
      in.reject(key, fmt::format("unknown fix '{}'", name) +
                         core::suggestion(name, diagnosis::fix_names()));
    }
  }
  return out;
}

ReportTruth read_one(const core::Node& item, const std::string& path,
                     const std::filesystem::path& folder) {
  const core::Reader in(item, path);
  ReportTruth out;
  std::string file = in.get<std::string>("file");
  if (!file.ends_with(kEvidence)) file += kEvidence;
  out.evidence = folder / file;
  if (!std::filesystem::exists(out.evidence))
    in.reject("file", fmt::format("there is no {}", out.evidence.string()));
  for (const std::string& name : in.words("regimes")) out.regimes.push_back(regime_named(in, name));
  in.require(!out.regimes.empty(), "regimes", "one regime at least");
  out.fixes = fixes(in, "fixes");
  out.rejects = fixes(in, "rejects");
  out.inconsistent = in.get<bool>("inconsistent", false);
  return out;
}

}  // namespace

std::filesystem::path report_truths_file(const core::ConfigLibrary& library) {
  return library.root() / "reports" / "truth.yaml";
}

std::vector<ReportTruth> read_report_truths(const std::filesystem::path& file) {
  const core::Node document = core::load_yaml(file);
  if (document.kind != core::Node::Kind::list) {
    throw core::ConfigError(fmt::format("{}: expected a list of reports, got {}",
                                        document.position.text(), document.describe()));
  }
  std::vector<ReportTruth> out;
  for (const core::Node& item : document.items)
    out.push_back(read_one(item, fmt::format("[{}]", out.size()), file.parent_path()));
  return out;
}

}  // namespace ridgeline::whatif
