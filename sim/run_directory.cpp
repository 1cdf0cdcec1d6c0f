#include "sim/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "sim/requests_csv.hpp"

namespace ridgeline::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic{'R', 'D', 'G', 'S', 'T', 'P', '0', '5'};

constexpr std::uintmax_t kLargestFile = std::uintmax_t{16} << 30U;

struct StepsHeader {
  std::array<char, 8> magic = kMagic;
  std::uint64_t steps = 0;
  std::int64_t kv_blocks = 0;
  std::int64_t preemptions = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t token_gaps = 0;
  std::int64_t extrapolated_ns = 0;
  std::int64_t drafts_checked = 0;
  std::int64_t drafts_accepted = 0;
  std::uint64_t checksum = 0;  // CRC-32 of the file as it would be with zero here
};
static_assert(sizeof(StepsHeader) == 80 && sizeof(TokenGap) == 16);

/// Adds `count` records to the CRC-32 of what came before them.
template <class T>
std::uint64_t checksum(std::uint64_t before, const T* data, std::size_t count) {
  if (count == 0) return before;  // zlib takes a null pointer for a new beginning
  return ::crc32_z(before, reinterpret_cast<const unsigned char*>(data), count * sizeof(T));
}

std::uint64_t checksum_of(StepsHeader header, const RunResult& result) {
  header.checksum = 0;
  std::uint64_t sum = checksum(0, &header, 1);
  sum = checksum(sum, result.steps.data(), result.steps.size());
  sum = checksum(sum, result.counters.data(), result.counters.size());
  return checksum(sum, result.token_gaps.data(), result.token_gaps.size());
}

template <class T>
void write_raw(std::ofstream& out, const T* data, std::size_t count) {
  out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw core::ConfigError(path.string() + ": cannot be written");
}

void write_steps(const RunResult& result, const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  StepsHeader header;
  header.steps = result.steps.size();
  header.kv_blocks = result.memory.kv_blocks;
  header.preemptions = result.preemptions;
  header.interrupted = result.interrupted ? 1 : 0;
  header.token_gaps = result.token_gaps.size();
  header.extrapolated_ns = result.extrapolated.count;
  header.drafts_checked = result.drafts_checked;
  header.drafts_accepted = result.drafts_accepted;
  header.checksum = checksum_of(header, result);
  write_raw(out, &header, 1);
  write_raw(out, result.steps.data(), result.steps.size());
  write_raw(out, result.counters.data(), result.counters.size());
  write_raw(out, result.token_gaps.data(), result.token_gaps.size());
  out.close();
  if (!out) throw core::ConfigError(path.string() + ": cannot be written");
}

/// No step takes less than no time or begins before the one before it has ended.
bool follow_one_another(const std::vector<StepRecord>& steps) {
  std::int64_t end = 0;
  for (const StepRecord& step : steps) {
    if (step.start.ns < end) return false;
    end = step.start.ns;
    for (const core::Nanoseconds part : step.ledger.by_cause) {
      if (part.count < 0 || part.count > INT64_MAX - end) return false;
      end += part.count;
    }
  }
  return true;
}

void read_steps(const fs::path& path, RunResult& result) {
  const std::string text = core::read_text_file(path, kLargestFile);
  StepsHeader header;
  if (text.size() < sizeof header)
    throw core::ConfigError(path.string() + ": expected step records, got a truncated file");
  std::memcpy(&header, text.data(), sizeof header);
  if (header.magic != kMagic)
    throw core::ConfigError(path.string() +
                            ": expected step records of this version, got something else");
  const std::size_t each = sizeof(StepRecord) + sizeof(CounterRecord);
  const std::size_t whole =
      sizeof header + header.steps * each + header.token_gaps * sizeof(TokenGap);
  const bool beyond_reason =
      header.steps > text.size() / each || header.token_gaps > text.size() / sizeof(TokenGap);
  if (beyond_reason || text.size() != whole) {
    throw core::ConfigError(fmt::format("{}: expected {} steps ({} bytes), got {} bytes",
                                        path.string(), header.steps, whole, text.size()));
  }
  result.steps.resize(header.steps);
  result.counters.resize(header.steps);
  const char* at = text.data() + sizeof header;
  if (header.steps > 0) {
    std::memcpy(static_cast<void*>(result.steps.data()), at, header.steps * sizeof(StepRecord));
    std::memcpy(static_cast<void*>(result.counters.data()), at + header.steps * sizeof(StepRecord),
                header.steps * sizeof(CounterRecord));
  }
  result.token_gaps.resize(header.token_gaps);
  if (header.token_gaps > 0) {
    std::memcpy(static_cast<void*>(result.token_gaps.data()), at + header.steps * each,
                header.token_gaps * sizeof(TokenGap));
  }
  if (checksum_of(header, result) != header.checksum) {
    throw core::ConfigError(path.string() + ": damaged: the checksum does not match");
  }
  if (header.kv_blocks < 0 || header.preemptions < 0 || header.extrapolated_ns < 0 ||
      header.drafts_accepted < 0 || header.drafts_checked < header.drafts_accepted ||
      !follow_one_another(result.steps)) {
    throw core::ConfigError(path.string() +
                            ": expected steps one after the other, got records that no run leaves");
  }
  result.memory.kv_blocks = header.kv_blocks;
  result.preemptions = header.preemptions;
  result.extrapolated.count = header.extrapolated_ns;
  result.drafts_checked = header.drafts_checked;
  result.drafts_accepted = header.drafts_accepted;
  result.interrupted = header.interrupted != 0;
}

/// What the user should know, from the result that people read.
std::vector<std::string> read_notes(const fs::path& path) {
  const auto json = nlohmann::json::parse(core::read_text_file(path), nullptr, false);
  const nlohmann::json::json_pointer where("/ridgeline/notes");
  const auto notes =
      !json.is_discarded() && json.contains(where) ? json.at(where) : nlohmann::json();
  std::vector<std::string> out;
  for (const auto& note : notes) {
    if (note.is_string()) out.push_back(note.get<std::string>());
  }
  if (!notes.is_array() || out.size() != notes.size()) {
    throw core::ConfigError(
        path.string() +
        ": expected a result with ridgeline.notes, a list of sentences, got something else");
  }
  return out;
}

constexpr std::array kFiles{"scenario.yaml", "result.json", "requests.csv", "steps.bin"};

bool is_run_directory(const fs::path& directory) {
  return fs::exists(directory / "scenario.yaml") && fs::exists(directory / "steps.bin");
}

void check_place(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return;
  if (!fs::is_directory(directory, error)) {
    throw core::ConfigError(directory.string() + ": expected a directory for the run, got a file");
  }
  if (!fs::is_empty(directory, error) && !is_run_directory(directory)) {
    throw core::ConfigError(directory.string() +
                            ": not empty and not an earlier run; choose another directory");
  }
}

}  // namespace

void write_run_directory(const RunResult& result, const fs::path& directory) {
  check_place(directory);
  // However it is spelt ("runs/", ".", "runs/x/.."): what is written beside a place and renamed
  // needs the place's own name.
  fs::path final_place = fs::absolute(directory).lexically_normal();
  if (!final_place.has_filename()) final_place = final_place.parent_path();
  const fs::path beside = final_place.string() + fmt::format(".part{}", ::getpid());
  try {
    fs::create_directories(beside);
    write_file(beside / "scenario.yaml", core::to_yaml(result.scenario.document));
    write_file(beside / "result.json", result_json(result, measure(result)).dump(2) + "\n");
    write_file(beside / "requests.csv", requests_csv(result.requests));
    write_steps(result, beside / "steps.bin");
    fs::remove_all(final_place);
    fs::rename(beside, final_place);
  } catch (const fs::filesystem_error& e) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throw core::ConfigError(final_place.string() + ": cannot be written: " + e.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    throw;
  }
}

bool is_file_of_run(const fs::path& file, const fs::path& directory) {
  return std::any_of(kFiles.begin(), kFiles.end(), [&](const char* name) {
    std::error_code error;  // a file that is not there is nobody's
    return fs::equivalent(file, directory / name, error);
  });
}

RunResult read_run_directory(const fs::path& directory, const core::ConfigLibrary& library) {
  if (!fs::exists(directory))
    throw core::ConfigError(directory.string() + ": no such run directory");
  if (!fs::is_directory(directory))
    throw core::ConfigError(directory.string() + ": expected the directory of a run, got a file");
  if (!is_run_directory(directory)) {
    throw core::ConfigError(
        directory.string() +
        ": not a run directory (expected scenario.yaml and steps.bin, as 'run --out' writes)");
  }
  RunResult result;
  result.scenario = read_scenario(core::load_yaml(directory / "scenario.yaml"), {}, library);
  if (!std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload)) {
    result.memory = plan_memory(result.scenario);
    result.requests =
        parse_requests_csv(core::read_text_file(directory / "requests.csv", kLargestFile),
                           (directory / "requests.csv").string());
  }
  read_steps(directory / "steps.bin", result);
  result.notes = read_notes(directory / "result.json");
  return result;
}

}  // namespace ridgeline::sim
