#include "whatif/profile.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using whatif::ProfileChoice;
using whatif::StepChoice;

namespace {

ProfileChoice choice(const std::string& yaml) {
  const core::Node node = core::parse_yaml(yaml, "p.yaml");
  const core::Reader in(node);
  ProfileChoice out = whatif::read_profile_choice(in);
  in.finish();
  return out;
}

std::string error(const std::string& yaml) {
  return tests::error_of([&] { static_cast<void>(choice(yaml)); });
}

std::int64_t count(const sim::RunResult& run, const ProfileChoice& c) {
  return whatif::profile(run, c).steps;
}

}  // namespace

TEST_CASE("Nothing said means the whole run", "[whatif][profile]") {
  const ProfileChoice c = choice("{}");
  CHECK(c.steps == StepChoice::all);
  CHECK(c.from == 0.0);
  CHECK(c.to == 1.0);
}

TEST_CASE("A choice is a kind of step and a part of the run", "[whatif][profile]") {
  const ProfileChoice c = choice("{profile: prefill, window: [20 %, 0.8]}");
  CHECK(c.steps == StepChoice::prefill);
  CHECK(c.from == 0.2);
  CHECK(c.to == 0.8);
}

TEST_CASE("A window that is not two rising fractions is refused", "[whatif][profile]") {
  for (const char* window : {"[0.8, 0.2]", "[0.2]", "[0.2, 0.2]", "[0.1, 0.2, 0.3]", "[-0.1, 0.5]",
                             "[0.5, 1.1]", "[a, b]"}) {
    CHECK(error(std::string("{window: ") + window + "}") ==
          "p.yaml:1:10: window: expected two rising fractions of the run like [0.2, 0.8]");
  }
  CHECK(error("{profile: idle}") ==
        "p.yaml:1:11: profile: expected one of all, decode, prefill, got 'idle'");
}

TEST_CASE("Every step is a decode step or one with prefill", "[whatif][profile]") {
  const sim::RunResult run =
      sim::run(tests::tiny());  // 10 requests far apart: a prefill and 4 decodes each
  CHECK(count(run, {}) == 50);
  CHECK(count(run, {.steps = StepChoice::decode}) == 40);
  CHECK(count(run, {.steps = StepChoice::prefill}) == 10);
}

TEST_CASE("Windows that lie side by side share the run out", "[whatif][profile]") {
  const sim::RunResult run = sim::run(
      tests::tiny({{"workload.arrivals.constant.rate", "1000 /s"}, {"workload.requests", "50"}}));
  std::int64_t sum = 0;
  core::Nanoseconds time{};
  for (const auto& [from, to] :
       std::vector<std::pair<double, double>>{{0.0, 0.25}, {0.25, 0.5}, {0.5, 0.8}, {0.8, 1.0}}) {
    const timeline::Summary part = whatif::profile(run, {.from = from, .to = to});
    sum += part.steps;
    time += part.time;
  }
  CHECK(sum == static_cast<std::int64_t>(run.steps.size()));
  CHECK(time == run.ledger().total());
}

TEST_CASE("A window is a part of the run's length, and the last one has no end",
          "[whatif][profile]") {
  sim::RunResult run;
  run.steps.resize(1);
  run.steps[0].start = {900};
  run.steps[0].ledger[hw::Cause::host] = {100};
  const timeline::Window middle = whatif::window_of(run, {.from = 0.25, .to = 0.5});
  CHECK(middle.begin == core::Instant{250});  // of 1,000 ns
  CHECK(middle.end == core::Instant{500});
  CHECK(whatif::window_of(run, {}).end == core::kNever);
}

TEST_CASE("Of a long run an even sample is taken", "[whatif][profile]") {
  const sim::RunResult run = sim::run(tests::tiny());
  CHECK(count(run, {.most_steps = 7}) == 7);
  CHECK(count(run, {.most_steps = 50}) == 50);
  const timeline::Summary all = whatif::profile(run, {.steps = StepChoice::decode});
  const timeline::Summary sample =
      whatif::profile(run, {.steps = StepChoice::decode, .most_steps = 20});
  CHECK(sample.kernels_per_step() == all.kernels_per_step());
  CHECK(sample.time.seconds() / all.time.seconds() == Approx(0.5).epsilon(0.01));
}

TEST_CASE("A profile's books balance, and are the run's", "[whatif][profile]") {
  const sim::RunResult run = sim::run(tests::tiny());
  const timeline::Summary s = whatif::profile(run, {});
  CHECK(s.time == s.busy + s.gaps + s.host);
  CHECK(s.kernels_time == s.busy);
  CHECK(s.time == run.ledger().total());
  CHECK(s.busy == run.ledger().busy());
}
