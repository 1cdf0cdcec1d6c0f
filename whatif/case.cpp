#include "whatif/case.hpp"

#include <algorithm>
#include <cmath>

#include "whatif/quantities.hpp"

namespace ridgeline::whatif {
namespace {

std::vector<Case::Free> read_free(const core::Reader& in) {
  std::vector<Case::Free> out;
  for (const core::Reader& item : in.list("free")) {
    out.push_back({item.words("keys"), item.get<std::string>("value"), item.get<std::string>("reason")});
  }
  if (out.size() > kMostFree) in.reject("free", "expected at most 4 free parameters, got " + std::to_string(out.size()));
  return out;
}

Case::Expectation read_expectation(const core::Reader& expect, const std::string& name) {
  const auto known = quantity_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    expect.reject(name, "unknown quantity" + core::suggestion(name, known));
  }
  const core::Reader in = expect.child(name);
  Case::Expectation out{name, in.get<double>("value"), {}};
  if (in.has("relative")) {
    out.accepted = core::Interval::within(out.value, in.fraction("relative"));
  } else if (in.has("absolute")) {
    const double margin = in.get<double>("absolute");
    in.require(margin >= 0.0, "absolute", "a margin of zero or more");
    out.accepted = {out.value - margin, out.value + margin};
  } else {
    out.accepted = {in.get<double>("low"), in.get<double>("high")};
  }
  if (!out.accepted.contains(out.value)) expect.reject(name, "the interval accepted does not hold the value expected");
  return out;
}

/// Takes the `case` block out of a document and reads everything but the scenario from it.
Case take_case(core::Node& document) {
  Case out;
  {
    const core::Reader in = core::Reader(document).child("case");
    out.letter = in.get<std::string>("letter");
    out.title = in.get<std::string>("title");
    out.given = in.words("given");
    out.free = read_free(in);
    out.profile = read_profile_choice(in);
    const core::Reader expect = in.child("expect");
    for (const std::string& name : expect.keys()) out.expectations.push_back(read_expectation(expect, name));
    in.finish();
  }
  std::erase_if(document.entries, [](const auto& entry) { return entry.first == "case"; });
  return out;
}

std::vector<sim::Override> free_values(const Case& what) {
  std::vector<sim::Override> overrides;
  for (const Case::Free& free : what.free) {
    for (const std::string& key : free.keys) overrides.emplace_back(key, free.value);
  }
  return overrides;
}

}  // namespace

Case load_case(const std::filesystem::path& file, const core::ConfigLibrary& library) {
  core::Node document = library.load("cases", file);
  Case out = take_case(document);
  out.scenario = sim::read_scenario(std::move(document), free_values(out), library);
  out.evidence_file = file;
  out.evidence_file.replace_extension(".evidence.yaml");
  return out;
}

sim::Scenario open_scenario(const std::string& name_or_path, const std::vector<sim::Override>& overrides,
                            const core::ConfigLibrary& library) {
  const std::filesystem::path shipped_case = library.root() / "cases" / (name_or_path + ".yaml");
  std::error_code error;
  core::Node document = name_or_path.find('/') == std::string::npos && std::filesystem::exists(shipped_case, error)
                            ? library.load("cases", shipped_case)
                            : sim::load_scenario_document(name_or_path, library);
  std::vector<sim::Override> all;
  if (document.find("case") != nullptr) all = free_values(take_case(document));
  all.insert(all.end(), overrides.begin(), overrides.end());
  return sim::read_scenario(std::move(document), all, library);
}

std::vector<std::filesystem::path> case_files(const core::ConfigLibrary& library) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : library.names("cases")) {
    if (name.find('.') == std::string::npos) files.push_back(library.root() / "cases" / (name + ".yaml"));
  }
  return files;
}

}  // namespace ridgeline::whatif
