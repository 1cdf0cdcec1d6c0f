#include "sim/run_directory.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using tests::error_of;
using tests::shipped;
using tests::TemporaryFolder;
using tests::tiny;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

const std::vector<std::string> kFiles{"requests.csv", "result.json", "scenario.yaml", "steps.bin"};

/// What a directory keeps of a run.
void check_same(const sim::RunResult& read, const sim::RunResult& run) {
  CHECK(tests::same(read.scenario, run.scenario));
  CHECK(read.requests == run.requests);
  CHECK(read.steps == run.steps);
  CHECK(read.counters == run.counters);
  CHECK(read.token_gaps == run.token_gaps);
  CHECK(read.preemptions == run.preemptions);
  CHECK(read.extrapolated == run.extrapolated);
  CHECK(read.interrupted == run.interrupted);
  CHECK(read.memory.kv_blocks == run.memory.kv_blocks);
  CHECK(read.memory.block_bytes == run.memory.block_bytes);
}

class Written {
 public:
  Written() { sim::write_run_directory(sim::run(tiny()), directory()); }
  [[nodiscard]] fs::path directory() const { return folder_.path() / "run"; }
  [[nodiscard]] std::string text(const std::string& name) const {
    return core::read_text_file(directory() / name);
  }
  void replace(const std::string& name, const std::string& text) const {
    static_cast<void>(folder_.write("run/" + name, text));
  }
  /// What reading it says, less the directory's own path.
  [[nodiscard]] std::string error() const {
    std::string text =
        error_of([&] { static_cast<void>(sim::read_run_directory(directory(), shipped())); });
    const std::string path = directory().string();
    if (const std::size_t at = text.find(path); at != std::string::npos)
      text.replace(at, path.size(), "run");
    return text;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("A run's directory holds the scenario, the result, the requests and the steps",
          "[sim][directory]") {
  const TemporaryFolder folder;
  const sim::RunResult run = sim::run(tiny());
  sim::write_run_directory(run, folder.path() / "run");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"run"});
  CHECK(names_in(folder.path() / "run") == kFiles);
  const auto json = nlohmann::json::parse(core::read_text_file(folder.path() / "run/result.json"));
  CHECK(json["completed"] == 10);
  CHECK(json["ridgeline"]["steps"] == run.steps.size());
  CHECK(fs::file_size(folder.path() / "run/steps.bin") >= run.steps.size() * (96 + 16));
}

TEST_CASE("A run reads back as it was", "[sim][directory]") {
  const TemporaryFolder folder;
  const auto round_trip = [&](const sim::RunResult& run) {
    sim::write_run_directory(run, folder.path() / "run");
    check_same(sim::read_run_directory(folder.path() / "run", shipped()), run);
  };
  SECTION("plain") { round_trip(sim::run(tiny())); }
  SECTION("with preemptions and refusals") {
    const sim::RunResult run =
        sim::run(tiny({{"engine.num_gpu_blocks_override", "16"},
                       {"workload.arrivals.constant.rate", "10000 /s"},
                       {"workload.prompt_tokens", "{uniform: {low: 10, high: 70}}"},
                       {"workload.output_tokens", "40"},
                       {"workload.requests", "40"}}));
    CHECK(run.preemptions > 0);
    round_trip(run);
  }
  SECTION("interrupted") {
    sim::RunOptions options;
    options.progress = [](std::size_t, std::size_t, core::Instant) { return false; };
    const sim::RunResult run = sim::run(tiny({{"workload.requests", "1000"}}), options);
    CHECK(run.interrupted);
    round_trip(run);
  }
  SECTION("training") {
    round_trip(sim::run(tiny({{"workload.training", "{microbatch: 2, sequence: 16}"}})));
  }
}

TEST_CASE("A run reads back with what clients and users were told", "[sim][directory]") {
  const TemporaryFolder folder;
  const fs::path trace = folder.write("t.csv",
                                      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 "
                                      "00:00:00,9,6\n2023-11-16 00:00:00,8,0\n");
  const sim::RunResult run = sim::run(tiny({{"workload.trace", trace.string()}}));
  sim::write_run_directory(run, folder.path() / "run");
  const sim::RunResult read = sim::read_run_directory(folder.path() / "run", shipped());
  CHECK(read.notes == run.notes);  // 1 of 2 rows left out
  CHECK(sim::measure(read).itl.count == 5);
  CHECK(sim::measure(read).itl.mean == Approx(sim::measure(run).itl.mean));
}

TEST_CASE("Folders on the way are made", "[sim][directory]") {
  const TemporaryFolder folder;
  sim::write_run_directory(sim::run(tiny()), folder.path() / "a/b/run");
  CHECK(names_in(folder.path() / "a/b/run") == kFiles);
}

TEST_CASE("However a directory is spelt, it is that directory", "[sim][directory]") {
  const TemporaryFolder folder;
  const sim::RunResult run = sim::run(tiny());
  for (const char* spelling : {"run/", "run/.", "x/../run", "run/x/.."}) {
    INFO(spelling);
    fs::create_directories(folder.path() / "x");
    CHECK(error_of([&] {
            sim::write_run_directory(run, (folder.path() / spelling).string());
          }).empty());
    CHECK(names_in(folder.path()) == std::vector<std::string>{"run", "x"});
    REQUIRE(fs::exists(folder.path() / "run"));
    CHECK(names_in(folder.path() / "run") == kFiles);
  }
}

TEST_CASE("An earlier run is replaced whole, an empty directory is used", "[sim][directory]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "run");
  sim::write_run_directory(sim::run(tiny()), folder.path() / "run");
  const sim::RunResult second = sim::run(tiny({{"workload.requests", "3"}}));
  sim::write_run_directory(second, folder.path() / "run");
  CHECK(sim::read_run_directory(folder.path() / "run", shipped()).requests.size() == 3);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"run"});
}

TEST_CASE("What is not a run is never overwritten", "[sim][directory]") {
  const TemporaryFolder folder;
  const sim::RunResult run = sim::run(tiny());
  const fs::path thesis = folder.write("work/thesis.txt", "years");
  const fs::path work = folder.path() / "work";
  CHECK(error_of([&] { sim::write_run_directory(run, work); }) ==
        work.string() + ": not empty and not an earlier run; choose another directory");
  CHECK(error_of([&] { sim::write_run_directory(run, thesis); }) ==
        thesis.string() + ": expected a directory for the run, got a file");
  CHECK(core::read_text_file(thesis) == "years");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"work"});
  CHECK(names_in(work) == std::vector<std::string>{"thesis.txt"});
}

TEST_CASE("What fails leaves nothing behind", "[sim][directory]") {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "x");
  CHECK(error_of([&] { sim::write_run_directory(sim::run(tiny()), file / "run"); }) ==
        (file / "run").string() + ": cannot be written: Not a directory");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
  CHECK_FALSE(
      error_of([&] { sim::write_run_directory(sim::run(tiny()), "/proc/ridgeline/run"); }).empty());
}

TEST_CASE("A directory that is not a run is refused", "[sim][directory]") {
  const TemporaryFolder folder;
  const auto error = [&](const fs::path& path) {
    return error_of([&] { static_cast<void>(sim::read_run_directory(path, shipped())); });
  };
  CHECK(error(folder.path() / "none") ==
        (folder.path() / "none").string() + ": no such run directory");
  CHECK(error(folder.path()) ==
        folder.path().string() +
            ": not a run directory (expected scenario.yaml and steps.bin, as 'run --out' writes)");
}

TEST_CASE("A damaged run is refused, and the file named", "[sim][directory]") {
  const Written run;
  const std::string steps = run.text("steps.bin");
  const std::size_t count = 50;  // 10 requests far apart, 5 steps each
  SECTION("a header cut short") {
    run.replace("steps.bin", steps.substr(0, 39));
    CHECK(run.error() == "run/steps.bin: expected step records, got a truncated file");
  }
  SECTION("records cut short") {
    run.replace("steps.bin", steps.substr(0, steps.size() - 1));
    CHECK(run.error() == "run/steps.bin: expected " + std::to_string(count) + " steps (" +
                             std::to_string(steps.size()) + " bytes), got " +
                             std::to_string(steps.size() - 1) + " bytes");
  }
  SECTION("too many bytes") {
    run.replace("steps.bin", steps + "x");
    CHECK(run.error().find("run/steps.bin: expected " + std::to_string(count) + " steps") == 0);
  }
  SECTION("something else altogether") {
    run.replace("steps.bin", std::string(200, 'x'));
    CHECK(run.error() ==
          "run/steps.bin: expected step records of this version, got something else");
  }
  SECTION("a count beyond all reason") {
    std::string huge = steps;
    std::fill(huge.begin() + 8, huge.begin() + 16, '\xff');
    run.replace("steps.bin", huge);
    CHECK(run.error().find("run/steps.bin: expected 18446744073709551615 steps") == 0);
  }
  SECTION("one bit, wherever it stands") {
    for (std::size_t i = 0; i < steps.size(); i += 13) {
      INFO(i);
      std::string flipped = steps;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
      run.replace("steps.bin", flipped);
      CHECK(run.error().find("run/steps.bin: ") == 0);
    }
  }
  SECTION("requests cut short") {
    const std::string csv = run.text("requests.csv");
    run.replace("requests.csv", csv.substr(0, csv.size() - 30));
    CHECK(run.error().find("run/requests.csv:11:1: expected 29 fields as in the header, got ") ==
          0);
  }
  SECTION("no requests") {
    fs::remove(run.directory() / "requests.csv");
    CHECK(run.error() == "run/requests.csv: no such file");
  }
  SECTION("a result that is none") {
    for (const char* text :
         {"", "{", "[]", "{\"ridgeline\": 1}", "{\"ridgeline\": {\"notes\": [1]}}"}) {
      run.replace("result.json", text);
      CHECK(run.error().find("run/result.json: ") == 0);
    }
  }
  SECTION("a scenario with a slip") {
    run.replace("scenario.yaml", run.text("scenario.yaml") + "\nsed: 4\n");
    CHECK(run.error().find("unknown key; did you mean 'seed'?") != std::string::npos);
    CHECK(run.error().find("run/scenario.yaml:") == 0);
  }
}
