// What the cases came out as when somebody last looked closely. A change here is a change of the
// model: the commit says why. RIDGELINE_WRITE_GOLDENS=1 writes tests/golden/<case>/expected.json
// anew.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "sim/metrics.hpp"
#include "tests/whatif/fixtures.hpp"
#include "whatif/profile.hpp"

using namespace ridgeline;
using nlohmann::json;  // sorted keys

namespace {

/// Six significant digits: what differs beyond them is the last bit of somebody's logarithm.
double rounded(double x) { return std::stod(fmt::format("{:.6g}", x)); }

json names_of(const std::vector<diagnosis::Recommendation>& list) {
  json out = json::array();
  for (const auto& r : list)
    out.push_back({{"name", r.name},
                   {"speedup_low", rounded(r.speedup.low)},
                   {"speedup_high", rounded(r.speedup.high)}});
  return out;
}

json diagnosis_json(const diagnosis::Diagnosis& d) {
  return {{"regime", diagnosis::name_of(d.regime)},
          {"phase", diagnosis::name_of(d.phase)},
          {"confidence", rounded(d.confidence)},
          {"fixes", names_of(d.fixes)},
          {"rejects", names_of(d.rejects)}};
}

json run_json(const sim::RunResult& run, const whatif::ProfileChoice& choice) {
  const sim::Metrics m = sim::measure(run);
  const timeline::Summary s = whatif::profile(run, choice);
  json out;
  out["requests"] = m.completed;
  out["output_tokens"] = m.output_tokens;
  out["steps"] = run.steps.size();
  out["kv_blocks"] = run.memory.kv_blocks;
  out["end_seconds"] = rounded(run.end().since_start().value());
  const hw::Ledger ledger = run.ledger();
  for (std::size_t i = 0; i < hw::kCauses; ++i) {
    out["ledger_seconds"][std::string(hw::kCauseNames[i])] =
        rounded(ledger.by_cause[i].seconds().value());
  }
  out["profile"]["steps"] = s.steps;
  out["profile"]["kernels"] = s.total.count;
  out["profile"]["issued_flop"] = rounded(s.total.issued.value());
  out["profile"]["useful_flop"] = rounded(s.total.useful.value());
  out["profile"]["hbm_bytes"] = rounded(s.total.hbm.value());
  for (const auto& [cls, row] : s.by_class) {
    out["profile"]["kernel_seconds"][std::string(timeline::name_of(cls))] =
        rounded(row.time.seconds().value());
  }
  return out;
}

std::string golden(const whatif::CaseOutcome& outcome) {
  json out;
  for (const auto& line : outcome.lines)
    out["quantities"][line.expected.quantity] = rounded(line.simulated);
  out["diagnosis_from_timeline"] = diagnosis_json(outcome.from_timeline);
  out["diagnosis_from_typed"] = diagnosis_json(outcome.from_typed);
  out["run"] = run_json(sim::run(outcome.what.scenario), outcome.what.profile);
  return out.dump(2) + "\n";
}

}  // namespace

TEST_CASE("The cases come out as they did", "[whatif][golden]") {
  const char* set = std::getenv("RIDGELINE_WRITE_GOLDENS");
  const bool write = set != nullptr && std::string(set) == "1";
  for (const auto& [name, outcome] : tests::outcomes()) {
    const std::filesystem::path file =
        std::filesystem::path(RIDGELINE_SOURCE_DIR) / "tests/golden" / name / "expected.json";
    const std::string now = golden(outcome);
    if (write) {
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << now;
      std::cout << "wrote " << file.string() << "\n";
    }
    INFO(file.string() << "\nif it should be so: RIDGELINE_WRITE_GOLDENS=1 test_whatif [golden]");
    REQUIRE(std::filesystem::exists(file));
    CHECK(now == core::read_text_file(file));
  }
}
