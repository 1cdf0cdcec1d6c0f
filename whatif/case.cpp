#include "whatif/case.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "whatif/quantities.hpp"

namespace ridgeline::whatif {
namespace {

std::vector<Case::Free> read_free(const core::Reader& in) {
  std::vector<Case::Free> out;
  for (const core::Reader& item : in.list("free")) {
    out.push_back(
        {item.words("keys"), item.get<std::string>("value"), item.get<std::string>("reason")});
  }
  if (out.size() > kMostFree)
    in.reject("free", "expected at most 4 free parameters, got " + std::to_string(out.size()));
  return out;
}

Case::Expectation read_expectation(const core::Reader& expect, const std::string& name) {
  const auto known = quantity_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    expect.reject_key(name, "unknown quantity" + core::suggestion(name, known));
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
  if (!out.accepted.contains(out.value))
    expect.reject(name, "the interval accepted does not hold the value expected");
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
    for (const std::string& name : expect.keys())
      out.expectations.push_back(read_expectation(expect, name));
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

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Files in the cases' folder that are cases, and not a case's evidence.
std::vector<std::string> case_names(const core::ConfigLibrary& library) {
  std::vector<std::string> names = library.names("cases");
  std::erase_if(names, [](const std::string& name) { return name.find('.') != std::string::npos; });
  return names;
}

/// The document of a file, or of a shipped scenario or case.
core::Node open_document(const std::string& name_or_path, const core::ConfigLibrary& library) {
  std::error_code error;
  if (core::is_path(name_or_path) || std::filesystem::is_regular_file(name_or_path, error)) {
    core::Node document = library.load("scenarios", name_or_path);
    for (const char* key : {"machine", "serving", "measured", "profile"}) {
      if (document.find(key) != nullptr && document.find("workload") == nullptr) {
        throw core::ConfigError(name_or_path + ": evidence (it has '" + key +
                                "'), not a scenario; 'ridgeline diagnose " + name_or_path +
                                "' takes it");
      }
    }
    return document;
  }
  std::vector<std::string> known = library.names("scenarios");
  if (contains(known, name_or_path))
    return library.load("scenarios", library.root() / "scenarios" / (name_or_path + ".yaml"));
  const std::vector<std::string> cases = case_names(library);
  if (contains(cases, name_or_path))
    return library.load("cases", library.root() / "cases" / (name_or_path + ".yaml"));

  struct Part {
    const char* kind;
    const char* key;
    const char* what;
  };
  for (const Part& part : {Part{"hw", "hw", "machine"}, Part{"models", "model", "model"},
                           Part{"stacks", "stack", "stack"}}) {
    if (library.called(part.kind, name_or_path)) {
      throw core::ConfigError("scenario: '" + name_or_path + "' is a " + part.what +
                              "; run a scenario with --set " + part.key + "=" + name_or_path);
    }
  }
  known.insert(known.end(), cases.begin(), cases.end());
  throw core::ConfigError("scenario: unknown name '" + name_or_path + "'" +
                          core::suggestion(name_or_path, known));
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

UnreadScenario find_scenario(const std::string& name_or_path,
                             const std::vector<sim::Override>& overrides,
                             const core::ConfigLibrary& library) {
  UnreadScenario found{open_document(name_or_path, library), {}};
  if (found.document.find("case") != nullptr)
    found.overrides = free_values(take_case(found.document));
  found.overrides.insert(found.overrides.end(), overrides.begin(), overrides.end());
  return found;
}

sim::Scenario open_scenario(const std::string& name_or_path,
                            const std::vector<sim::Override>& overrides,
                            const core::ConfigLibrary& library) {
  UnreadScenario found = find_scenario(name_or_path, overrides, library);
  return sim::read_scenario(std::move(found.document), found.overrides, library);
}

std::vector<std::filesystem::path> case_files(const core::ConfigLibrary& library) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : case_names(library))
    files.push_back(library.root() / "cases" / (name + ".yaml"));
  return files;
}

std::vector<Case> chosen_cases(const std::vector<std::string>& letters,
                               const core::ConfigLibrary& library) {
  std::vector<Case> all;
  std::vector<std::string> known;
  for (const auto& file : case_files(library)) {
    all.push_back(load_case(file, library));
    known.push_back(all.back().letter);
  }
  if (letters.empty()) return all;
  std::vector<std::string> wanted;
  for (std::string letter : letters) {
    if (letter.size() == 1)
      letter[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(letter[0])));
    if (std::find(known.begin(), known.end(), letter) == known.end())
      throw core::ConfigError("unknown case '" + letter + "'" + core::suggestion(letter, known));
    wanted.push_back(letter);
  }
  std::erase_if(all, [&](const Case& c) {
    return std::find(wanted.begin(), wanted.end(), c.letter) == wanted.end();
  });
  return all;
}

}  // namespace ridgeline::whatif
