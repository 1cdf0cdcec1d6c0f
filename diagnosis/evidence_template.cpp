#include "diagnosis/evidence_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "diagnosis/evidence.hpp"
#include "diagnosis/evidence_keys.hpp"
#include "diagnosis/fixes/table.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"

namespace ridgeline::diagnosis {
namespace {

constexpr std::size_t kCommentColumn = 50;

/// What a training step has of the sections that are about servers; and what only it has.
constexpr std::array<std::string_view, 8> kOfTraining{
    "serving.microbatch",      "serving.sequence_tokens", "measured.throughput",
    "measured.step_time",      "measured.flop_rate",      "measured.hbm_rate",
    "measured.bytes_per_step", "memory.allocated"};
constexpr std::array<std::string_view, 2> kOnlyTraining{"serving.microbatch",
                                                        "serving.sequence_tokens"};

bool belongs(const EvidenceKey& key, bool training) {
  const std::string path = std::string(key.section) + "." + std::string(key.key);
  const auto in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), path) != list.end();
  };
  if (!training) return !in(kOnlyTraining);
  if (key.section == "engine") return false;
  const bool of_servers =
      key.section == "serving" || key.section == "measured" || key.section == "memory";
  return !of_servers || in(kOfTraining);
}

std::string line(std::string_view entry, std::string_view meaning) {
  if (meaning.empty()) return std::string(entry) + "\n";
  return fmt::format("{:<{}} # {}\n", entry, kCommentColumn, meaning);
}

std::string example_of(const EvidenceKey& key, const TemplateNames& names, bool training) {
  if (key.key == "base") return key.section == "machine" ? names.machine : names.model;
  if (key.key == "window" && training) return "training";
  return std::string(key.example);
}

std::string entries_of(std::string_view section, const TemplateNames& names, bool training) {
  std::string out;
  const std::string_view indent = section.empty() ? "" : "  ";
  for (const EvidenceKey& key : evidence_keys(section)) {
    if (!belongs(key, training) || (section == "machine" && key.key == "devices") ||
        key.key == "tensor_parallel_size")
      continue;
    out += line(fmt::format("{}#{}: {}", indent, key.key, example_of(key, names, training)),
                key.meaning);
  }
  return out;
}

std::string_view about(std::string_view section) {
  if (section == "machine") return "one device; its datasheet says most";
  if (section == "model") return "config.json says most";
  if (section == "serving") return "what is asked of it";
  if (section == "measured") return "from outside: a benchmark's summary, a log";
  if (section == "profile") return "from inside: counters, a timeline, a table of kernels";
  if (section == "engine") return "the program and its switches";
  return "as the log says it";
}

constexpr std::string_view kHead =
    "# Evidence about a slow {}: any subset will do. Take the '#' off what you know and put your\n"
    "# numbers in; 'ridgeline evidence check FILE' says what was understood and which number to "
    "look\n"
    "# for next, 'ridgeline diagnose FILE' the rest.\n"
    "#\n"
    "# Numbers carry their doubt: '78 %' is 77.5 to 78.5, '6-30 us' a range, '~40 GB' 35 to 45,\n"
    "# '=26 GB' exact. What is counted ('32') is exact.\n\n";

}  // namespace

std::string evidence_template(const TemplateNames& names, bool training) {
  std::string out = fmt::format(kHead, training ? "training step" : "server");
  out += entries_of("", names, training);
  for (const std::string_view section : evidence_sections()) {
    const std::string entries = entries_of(section, names, training);
    if (entries.empty()) continue;
    out += "\n" + line(fmt::format("{}:", section), about(section)) + entries;
  }
  out += "\n" + line("symptoms:", "what a log or a configuration says in words");
  for (const Symptom& symptom : all_symptoms())
    out += line(fmt::format("  #- {}", symptom.name), symptom.meaning);
  const std::string_view measure = training ? "step_time" : "throughput";
  const std::string_view before = training ? "910 ms" : "1150 /s";
  const std::string_view after = training ? "850 ms" : "1240 /s";
  out += "\n" + line("trials:",
                     "changes that somebody made, and what came of them: before and "
                     "after in keys of 'measured', or speedup");
  out += fmt::format(
      "  #- {{change: {0}, before: {{{1}: {2}}}, after: {{{1}: {3}}}, when: \"at 32 requests\"}}\n",
      change_names().front(), measure, before, after);
  for (const std::string& name : change_names())
    out += line(fmt::format("  #- {{change: {}, speedup: 1.08}}", name), find_change(name)->title);
  out +=
      "\n# The same server at several points, quantities only; the last is the one in question.\n";
  out += training ? "#sweep: [{devices: 8, step_time: 910 ms}, {devices: 16, step_time: 700 ms}]\n"
                  : "#sweep: [{concurrency: 1, itl: 25.6 ms}, {concurrency: 32, itl: 47.7 ms}]\n";
  out += "\n" + line("kernels:", "rows of a table; with bytes or flop each is held to its roof");
  out +=
      "  #- {name: cross_device_reduce, group: collective, share: 22.7 %, time: 9.6 ms, calls: "
      "122, "
      "bytes: 14.2 MB}\n"
      "  #- {name: gemv, group: gemm, time: 800.5 us, bytes: 569.6 MB, occupied: 53 %}\n"
      "  #- {name: gemm, group: gemm, rate: 1237 TFLOP/s}\n";
  out += "\n" + line("proposals:", "fixes that somebody proposes: the answer judges them");
  for (const Fix* fix : all_fixes()) out += line(fmt::format("  #- {}", fix->name), fix->title);
  out +=
      "\n# Or paste what a tool printed ('ridgeline evidence formats'), as it is, indented below "
      "'text: |'.\n"
      "# What is typed above counts more than what the text says.\n"
      "#text: \"Mean TPOT (ms): 27.80\"\n";
  return out;
}

nlohmann::ordered_json evidence_keys_json() {
  nlohmann::ordered_json json;
  auto& sections = json["sections"];
  std::vector<std::string_view> names{""};
  names.insert(names.end(), evidence_sections().begin(), evidence_sections().end());
  for (const std::string_view section : names) {
    auto& list = sections[section.empty() ? "document" : std::string(section)] =
        nlohmann::ordered_json::array();
    for (const EvidenceKey& key : evidence_keys(section)) {
      list.push_back({{"key", key.key},
                      {"meaning", key.meaning},
                      {"example", key.example},
                      {"quantity", key.quantity}});
    }
  }
  auto& symptoms = json["symptoms"] = nlohmann::ordered_json::array();
  for (const Symptom& symptom : all_symptoms())
    symptoms.push_back({{"name", symptom.name}, {"meaning", symptom.meaning}});
  auto& changes = json["changes"] = nlohmann::ordered_json::array();
  for (const std::string& name : change_names()) {
    changes.push_back({{"name", name},
                       {"meaning", find_change(name)->title},
                       {"fix", find_fix(name) != nullptr}});
  }
  return json;
}

}  // namespace ridgeline::diagnosis
