#include "fidelity/replay.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "sim/run.hpp"

namespace ridgeline::fidelity {
namespace {

/// One request as it was served, in seconds since its arrival.
struct Served {
  double arrival = 0.0;
  double first = 0.0;
  double last = 0.0;
  std::int64_t tokens = 0;

  [[nodiscard]] double tpot() const {
    return tokens > 1 ? (last - first) / static_cast<double>(tokens - 1) : 0.0;
  }
};

std::vector<Served> read_recording(const std::filesystem::path& path) {
  std::vector<Served> served;
  std::istringstream lines(core::read_text_file(path));
  std::string line;
  // Arrivals are read off the wall clock, the engine's stamps off another: the first request was
  // queued as soon as it came.
  double clock = 0.0;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
    try {
      const auto request = nlohmann::json::parse(line);
      const double arrival = request.at("arrival_time").get<double>();
      if (served.empty()) clock = request.at("queued_ts").get<double>() - arrival;
      Served s;
      s.arrival = arrival + clock;
      s.first = request.at("first_token_ts").get<double>() - s.arrival;
      s.last = request.at("last_token_ts").get<double>() - s.arrival;
      s.tokens = request.at("output_toks").get<std::int64_t>();
      served.push_back(s);
    } catch (const nlohmann::json::exception& error) {
      throw core::ConfigError(path.string() + ":" + std::to_string(number) +
                              ": expected a served request (arrival_time, queued_ts, "
                              "first_token_ts, last_token_ts, output_toks): " +
                              error.what());
    }
  }
  std::stable_sort(served.begin(), served.end(),
                   [](const Served& a, const Served& b) { return a.arrival < b.arrival; });
  return served;
}

Compared compared(const std::string& place, double measured, double predicted) {
  Compared c;
  c.place = place;
  c.measured = measured;
  c.predicted = predicted;
  c.held_back = false;  // the host's constants of the stack were fitted to recordings
  constexpr double kTenPercent = 0.1;
  c.inside = std::abs(c.ratio() - 1.0) <= kTenPercent;
  return c;
}

}  // namespace

bool is_recording(const std::filesystem::path& path) {
  if (path.extension() != ".jsonl") return false;
  const std::string text = core::read_text_file(path);
  return text.substr(0, text.find('\n')).find("\"first_token_ts\"") != std::string::npos;
}

std::vector<Group> validate_replay(const std::filesystem::path& recording,
                                   const sim::Scenario& scenario) {
  const std::vector<Served> served = read_recording(recording);
  const sim::RunResult run = sim::run(scenario);
  if (run.requests.size() != served.size()) {
    throw core::ConfigError(recording.string() + ": holds " + std::to_string(served.size()) +
                            " requests, the run " + std::to_string(run.requests.size()) +
                            "; give the recording as workload.trace");
  }
  Group requests{"replay", scenario.name + " end-to-end", {}, 0, {}};
  double real_tpot = 0.0;
  double real_ttft = 0.0;
  double tpot = 0.0;
  double ttft = 0.0;
  for (std::size_t i = 0; i < served.size(); ++i) {
    const sim::RequestRecord& r = run.requests[i];
    const std::string place = recording.filename().string() + ": request " + std::to_string(i + 1);
    if (r.status != sim::RequestStatus::finished || r.output_tokens != served[i].tokens)
      throw core::ConfigError(place + ": is not the run's request of that number");
    real_tpot += served[i].tpot();
    real_ttft += served[i].first;
    tpot += r.tpot().value();
    ttft += r.ttft().seconds().value();
    requests.rows.push_back(compared(place, served[i].last, r.e2e().seconds().value()));
  }
  const double n = static_cast<double>(std::max<std::size_t>(1, served.size()));
  const std::string name = recording.filename().string();
  Group mean_tpot{"replay", scenario.name + " mean TPOT", {}, 0, {}};
  mean_tpot.rows.push_back(compared(name, real_tpot / n, tpot / n));
  Group mean_ttft{"replay", scenario.name + " mean TTFT", {}, 0, {}};
  mean_ttft.rows.push_back(compared(name, real_ttft / n, ttft / n));
  return {mean_tpot, mean_ttft, requests};
}

}  // namespace ridgeline::fidelity
