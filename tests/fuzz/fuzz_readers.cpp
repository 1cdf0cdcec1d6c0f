// Throws damaged files at the readers of profiler formats: whatever the bytes, a reader gives a
// recording or a ConfigError.
//
//   fuzz_readers SECONDS SEED [FILE...]     seeds are a few files made by the program itself, and
//   the FILEs
//
// Built with the sanitizers (preset asan) it also catches what does not crash. A failing input is
// left in fuzz_failure.bin.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "core/document.hpp"
#include "core/error.hpp"
#include "diagnosis/diagnose_trace.hpp"
#include "sim/run.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/writers/kineto.hpp"
#include "timeline/writers/rocprofv3.hpp"
#include "whatif/case.hpp"

namespace {

using namespace ridgeline;
namespace fs = std::filesystem;

struct Seed {
  std::string ending;  // what the file must be called, for readers that go by it
  std::string bytes;
};

/// Files of every text format that the program writes, of a very short run.
std::vector<Seed> own_seeds(const fs::path& folder) {
  const sim::RunResult result = sim::run(whatif::open_scenario(
      "e_gaps",
      {{"workload.output_tokens", "2"}, {"workload.requests", "1"}, {"model.layers", "2"}},
      core::ConfigLibrary::standard()));
  const sim::RunTimeline timeline(result);
  timeline::write_kineto_file(timeline, {}, folder / "seed.json", {});
  timeline::write_kineto_file(timeline, {}, folder / "seed.json.gz", {});
  timeline::write_rocprofv3_json(timeline, {}, folder / "seed_results.json", {});
  timeline::write_rocprofv3_csv(timeline, {}, folder / "seed", {});
  std::vector<Seed> seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    seeds.push_back(
        {entry.path().filename().string().substr(4), core::read_text_file(entry.path())});
  }
  seeds.push_back({".csv",
                   "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,BeginNs,EndNs\n0,"
                   "\"k.kd\",2,0,0,1,1,256,64,1000,2000\n"});
  seeds.push_back({".csv",
                   "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_BUBBLE[0],Start_"
                   "Timestamp,End_Timestamp\n0,2,256,64,k,1,1,9\n"});
  return seeds;
}

/// One to eight small harms: flipped bits, cut ends, doubled, moved and exchanged stretches,
/// numbers made extreme.
std::string damaged(const Seed& seed, const std::vector<Seed>& all, std::mt19937_64& random) {
  std::string bytes = seed.bytes;
  const auto below = [&](std::size_t n) {
    return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
  };
  static const std::vector<std::string> kWords{"-1",       "1e308", "99999999999999999999",
                                               "null",     "\"\"",  "{}",
                                               "[",        "]}",    "NaN",
                                               "\xff\xfe", "0",     "true",
                                               ",",        "\n",    "\"",
                                               "\\u0000"};
  for (std::size_t harms = 1 + below(8); harms > 0 && !bytes.empty(); --harms) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min(bytes.size() - at, 1 + below(64));
    switch (below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, kWords[below(kWords.size())]);
        break;
      case 5:
        bytes.replace(at, length, kWords[below(kWords.size())]);
        break;
      default: {
        const std::string& other = all[below(all.size())].bytes;
        const std::size_t from = below(other.size());
        bytes.replace(at, length, other.substr(from, 1 + below(256)));
      }
    }
  }
  return bytes;
}

/// Reads the bytes as a user would, from a file. False when something else than a recording or a
/// ConfigError comes out.
bool survives(const fs::path& file) {
  try {
    const diagnosis::TraceStudy study(file);
    static_cast<void>(diagnosis::diagnose_trace(study, {}));
  } catch (const core::ConfigError&) {
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", file.string(), e.what());
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fuzz_readers SECONDS SEED [FILE...]\n");
    return 2;
  }
  const double seconds = std::stod(argv[1]);
  std::mt19937_64 random(std::stoull(argv[2]));
  const fs::path folder = fs::temp_directory_path() / fmt::format("ridgeline_fuzz_{}", random());
  fs::create_directories(folder);
  std::vector<Seed> seeds = own_seeds(folder);
  for (int i = 3; i < argc; ++i) {
    const fs::path file = argv[i];
    const std::string name = file.filename().string();
    seeds.push_back(
        {name.substr(std::min(name.find('.'), name.size())), core::read_text_file(file)});
  }

  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t runs = 0;
  bool good = true;
  while (good && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
                     seconds) {
    const Seed& seed = seeds[random() % seeds.size()];
    const fs::path file = folder / ("input" + seed.ending);
    const std::string bytes = damaged(seed, seeds, random);
    std::ofstream("fuzz_failure.bin", std::ios::binary)
        << bytes;  // stays if the next line does not come back
    std::ofstream(file, std::ios::binary) << bytes;
    good = survives(file);
    fs::remove(file);
    ++runs;
  }
  fs::remove_all(folder);
  if (good) fs::remove("fuzz_failure.bin");
  fmt::print("{} damaged files from {} seeds: {}\n", runs, seeds.size(),
             good ? "each read or refused" : "FAILED, see fuzz_failure.bin");
  return good ? 0 : 1;
}
