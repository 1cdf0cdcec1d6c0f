#include "whatif/corpus/corpus_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <map>

#include "core/error.hpp"
#include "diagnosis/evidence_yaml.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/writers/kineto.hpp"
#include "timeline/writers/output_file.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::whatif {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;          // of these files; others are not mixed with them
constexpr std::size_t kSteps = 20;  // in a timeline: enough to see what repeats
constexpr const char* kUnfinished = ".part";

void write_text(const fs::path& path, const std::string& text) {
  timeline::write_file(path, [&](std::ostream& out) { out << text; });
}

nlohmann::ordered_json read_label(const fs::path& item) {
  const fs::path file = item / "label.json";
  nlohmann::ordered_json label =
      nlohmann::ordered_json::parse(core::read_text_file(file), nullptr, false);
  if (!label.is_object() || !label.contains("seed") || !label.contains("index") ||
      !label.contains("regime"))
    throw core::ConfigError(file.string() + ": not the label of a generated item");
  return label;
}

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path))
    throw core::ConfigError(path.string() + ": expected a directory to write to" +
                            (error ? ": " + error.message() : ""));
}

}  // namespace

CorpusDirectory::CorpusDirectory(fs::path path, std::uint64_t seed, bool timelines)
    : path_(std::move(path)), seed_(seed), timelines_(timelines) {
  make_directory(path_);
}

fs::path CorpusDirectory::place_of(std::int64_t index) const {
  return path_ / fmt::format("{:04}", index);
}

bool CorpusDirectory::has(std::int64_t index) const {
  const fs::path item = place_of(index);
  if (!fs::exists(item)) return false;
  const nlohmann::ordered_json label = read_label(item);
  if (label["seed"] != seed_ || label["format"] != kFormat) {
    throw core::ConfigError(
        fmt::format("{}: of seed {} and format {}, not {} and {}; choose another directory",
                    item.string(), label["seed"].dump(), label["format"].dump(), seed_, kFormat));
  }
  return !timelines_ || fs::exists(item / "timeline.json.gz");
}

void CorpusDirectory::write(const CorpusItem& item) const {
  const fs::path place = place_of(item.index);
  fs::path beside = path_ / fmt::format(".{:04}{}{}", item.index, kUnfinished, ::getpid());
  make_directory(beside);
  write_text(beside / "scenario.yaml", core::to_yaml(item.server.document));
  write_text(beside / "throughput.evidence.yaml", item.throughput_text);
  write_text(beside / "percentages.evidence.yaml", item.percentages_text);
  write_text(beside / "timeline.evidence.yaml",
             diagnosis::to_yaml(item.timeline, {.machine = item.server.sketch.machine->name,
                                                .model = std::nullopt}));
  nlohmann::ordered_json label{{"index", item.index},
                               {"seed", seed_},
                               {"format", kFormat},
                               {"title", item.title},
                               {"load", name_of(item.server.sketch.load)}};
  label.update(to_json(item.label));
  write_text(beside / "label.json", label.dump(2) + "\n");
  if (timelines_) {
    const sim::RunTimeline timeline(item.result,
                                    chosen_steps(item.result, telling_part(item.result), kSteps));
    timeline::write_kineto_file(timeline, {}, beside / "timeline.json.gz");
  }
  std::error_code error;
  fs::remove_all(place, error);  // one without the timeline that is asked for now
  fs::rename(beside, place, error);
  if (error) throw core::ConfigError(place.string() + ": cannot be written: " + error.message());
}

nlohmann::ordered_json CorpusDirectory::write_index(std::int64_t n) const {
  std::map<std::string, std::int64_t> regimes;
  std::map<std::string, std::int64_t> loads;
  std::map<std::string, std::int64_t> faults;
  for (std::int64_t i = 0; i < n; ++i) {
    const nlohmann::ordered_json label = read_label(place_of(i));
    ++regimes[label["regime"].get<std::string>()];
    ++loads[label["load"].get<std::string>()];
    for (const auto& fault : label["faults"]) ++faults[fault.get<std::string>()];
  }
  nlohmann::ordered_json index{
      {"n", n},         {"seed", seed_},   {"format", kFormat}, {"regimes", regimes},
      {"loads", loads}, {"faults", faults}};
  write_text(path_ / "index.json", index.dump(2) + "\n");
  return index;
}

void CorpusDirectory::remove_unfinished() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".") || name.find(kUnfinished) == std::string::npos) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace ridgeline::whatif
