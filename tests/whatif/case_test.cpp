#include "whatif/case.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using tests::shipped;
using whatif::Case;
using whatif::load_case;

namespace {

/// A case on the tiny machine with this `case` block.
class Written {
 public:
  explicit Written(const std::string& block)
      : path_(folder_.write("x_tiny.yaml", std::string(tests::kTiny) + "case:\n" + block)) {}
  [[nodiscard]] Case load() const { return load_case(path_, shipped()); }
  /// What loading it says, less the folder's path.
  [[nodiscard]] std::string error() const {
    std::string text = tests::error_of([&] { static_cast<void>(load()); });
    const std::string folder = path_.parent_path().string() + "/";
    if (const std::size_t at = text.find(folder); at != std::string::npos)
      text.erase(at, folder.size());
    return text;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  tests::TemporaryFolder folder_;
  std::filesystem::path path_;
};

std::string free_values(int n) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += "    - {keys: [seed], value: \"" + std::to_string(i) + "\", reason: because}\n";
  return out;
}

std::string block(const std::string& free, const std::string& expect) {
  return "  letter: X\n  title: a title\n  given: [one, two]\n  free:\n" + free + "  expect:\n" +
         expect;
}

}  // namespace

TEST_CASE("A case is a scenario with its free values set, and what must come out of it",
          "[whatif][case]") {
  const Written written(
      block(
          "    - {keys: [engine.max_num_seqs, workload.requests], value: \"3\", reason: implied}\n",
          "    ttft_seconds: {value: 2, relative: 0.1}\n"
          "    itl_seconds: {value: 4, absolute: 0.5}\n"
          "    hbm_fraction: {value: 0.5, low: 0.2, high: 0.6}\n") +
      "  profile: decode\n  window: [0.25, 0.75]\n");
  const Case c = written.load();
  CHECK(c.letter == "X");
  CHECK(c.title == "a title");
  CHECK(c.given == std::vector<std::string>{"one", "two"});
  REQUIRE(c.free.size() == 1);
  CHECK(c.free[0].reason == "implied");
  CHECK(c.scenario.engine.max_num_seqs == 3);
  CHECK(std::get<workloads::GeneratedWorkload>(c.scenario.workload).requests == 3);
  REQUIRE(c.expectations.size() == 3);
  CHECK(c.expectations[0].quantity == "ttft_seconds");
  CHECK(c.expectations[0].accepted.low == Approx(1.8));  // 2 less a tenth
  CHECK(c.expectations[0].accepted.high == Approx(2.2));
  CHECK(c.expectations[1].accepted == core::Interval(3.5, 4.5));
  CHECK(c.expectations[2].accepted == core::Interval(0.2, 0.6));
  CHECK(c.profile.steps == whatif::StepChoice::decode);
  CHECK(c.profile.from == 0.25);
  CHECK(c.profile.to == 0.75);
  CHECK(c.evidence_file.filename() == "x_tiny.evidence.yaml");
}

TEST_CASE("A case has at most four free parameters: with more, anything can be made to come out",
          "[whatif][case]") {
  CHECK(Written(block(free_values(4), "    ttft_seconds: {value: 2, relative: 0.1}\n"))
            .load()
            .free.size() == whatif::kMostFree);
  CHECK(Written(block(free_values(5), "    ttft_seconds: {value: 2, relative: 0.1}\n")).error() ==
        "x_tiny.yaml:22:5: case.free: expected at most 4 free parameters, got 5");
}

TEST_CASE("A free value needs a reason", "[whatif][case]") {
  CHECK(Written(block("    - {keys: [seed], value: \"1\"}\n",
                      "    ttft_seconds: {value: 2, relative: 0.1}\n"))
            .error() ==
        "x_tiny.yaml:22:7: case.free[0].reason: expected a word, got nothing (the key is missing)");
}

TEST_CASE("A quantity that nobody computes is an error that names the one meant",
          "[whatif][case]") {
  CHECK(Written(block(free_values(1), "    ttft: {value: 2, relative: 0.1}\n")).error() ==
        "x_tiny.yaml:24:5: case.expect.ttft: unknown quantity; did you mean 'ttft_seconds'?");
  const std::string error =
      Written(block(free_values(1), "    happiness: {value: 2, relative: 0.1}\n")).error();
  CHECK(error.find("x_tiny.yaml:24:5: case.expect.happiness: unknown quantity; known: "
                   "ceiling_tokens_per_second, ") == 0);
}

TEST_CASE("An expectation says how near is near enough", "[whatif][case]") {
  CHECK(Written(block(free_values(1), "    ttft_seconds: {value: 2}\n")).error() ==
        "x_tiny.yaml:24:19: case.expect.ttft_seconds.low: expected a number without unit, got "
        "nothing (the key is missing)");
  CHECK(Written(block(free_values(1), "    ttft_seconds: {value: 2, relative: 0.1, wide: 3}\n"))
            .error()
            .find("unknown key") != std::string::npos);
  CHECK(Written(block(free_values(1), "    ttft_seconds: {value: 2, relative: 1.5}\n"))
            .error()
            .find("expected a fraction") != std::string::npos);
}

TEST_CASE("What a case expects is inside what it accepts", "[whatif][case]") {
  for (const auto& file : whatif::case_files(shipped())) {
    for (const auto& e : load_case(file, shipped()).expectations) {
      INFO(file.stem().string() << " " << e.quantity);
      CHECK(e.accepted.contains(e.value));
    }
  }
}

TEST_CASE("A case that cannot hold whatever comes out is refused", "[whatif][case]") {
  CHECK_FALSE(Written(block(free_values(1), "    ttft_seconds: {value: 2, low: 3, high: 1}\n"))
                  .error()
                  .empty());
  CHECK_FALSE(Written(block(free_values(1), "    ttft_seconds: {value: 2, absolute: -1}\n"))
                  .error()
                  .empty());
}

TEST_CASE(
    "There are five cases, each with its evidence beside it and a reason for every free value",
    "[whatif][case]") {
  std::string letters;
  for (const auto& file : whatif::case_files(shipped())) {
    const Case c = load_case(file, shipped());
    INFO(file.string());
    letters += c.letter;
    CHECK(std::filesystem::exists(c.evidence_file));
    CHECK(c.free.size() <= whatif::kMostFree);
    CHECK_FALSE(c.given.empty());
    for (const auto& free : c.free) CHECK_FALSE(free.reason.empty());
    CHECK_FALSE(c.expectations.empty());
  }
  CHECK(letters == "ABCDE");
}

TEST_CASE("A case opens as a scenario too, by name or file, free values set, overrides last",
          "[whatif][case]") {
  for (const auto& file : whatif::case_files(shipped())) {
    const Case c = load_case(file, shipped());
    CHECK(tests::same(whatif::open_scenario(file.stem().string(), {}, shipped()), c.scenario));
    CHECK(tests::same(whatif::open_scenario(file.string(), {}, shipped()), c.scenario));
  }
  const sim::Scenario a = whatif::open_scenario(
      "a_chatbot", {{"workload.requests", "3"}, {"stack.efficiency.bandwidth.gemm", "0.5"}},
      shipped());
  CHECK(std::get<workloads::GeneratedWorkload>(a.workload).requests == 3);
  CHECK(a.stack.efficiency.of_bandwidth(hw::KernelKind::gemm) == 0.5);
  CHECK(tests::same(whatif::open_scenario("chat_8b", {}, shipped()), tests::scenario("chat_8b")));
}

TEST_CASE("The resolved document of a case reads back as its scenario", "[whatif][case]") {
  const tests::TemporaryFolder folder;
  for (const auto& file : whatif::case_files(shipped())) {
    const Case c = load_case(file, shipped());
    INFO(c.letter);
    const std::string text = core::to_yaml(c.scenario.document);
    CHECK(tests::same(sim::read_scenario(core::parse_yaml(text, "again.yaml"), {},
                                         core::ConfigLibrary(folder.path())),
                      c.scenario));
  }
}
