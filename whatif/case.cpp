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
    out.accepted = {out.value - margin, out.value + margin};
  } else {
    out.accepted = {in.get<double>("low"), in.get<double>("high")};
  }
  return out;
}

}  // namespace

Case load_case(const std::filesystem::path& file, const core::ConfigLibrary& library) {
  core::Node document = library.load("cases", file);
  Case out;
  {
    const core::Reader whole(document);
    const core::Reader in = whole.child("case");
    out.letter = in.get<std::string>("letter");
    out.title = in.get<std::string>("title");
    out.given = in.words("given");
    out.free = read_free(in);
    out.profile = read_profile_choice(in);
    const core::Reader expect = in.child("expect");
    for (const std::string& name : expect.keys()) out.expectations.push_back(read_expectation(expect, name));
    in.finish();
  }
  std::vector<sim::Override> overrides;
  for (const Case::Free& free : out.free) {
    for (const std::string& key : free.keys) overrides.emplace_back(key, free.value);
  }
  out.scenario = sim::read_scenario(std::move(document), overrides, library, {"case"});
  out.evidence_file = file;
  out.evidence_file.replace_extension(".evidence.yaml");
  return out;
}

std::vector<std::filesystem::path> case_files(const core::ConfigLibrary& library) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : library.names("cases")) {
    if (name.find('.') == std::string::npos) files.push_back(library.root() / "cases" / (name + ".yaml"));
  }
  return files;
}

}  // namespace ridgeline::whatif
