#include "workloads/shared_prefix.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "tests/corpus.hpp"
#include "tests/workloads/fixtures.hpp"
#include "workloads/trace_formats.hpp"
#include "workloads/workload_spec.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::tests::drain;
using ridgeline::tests::error_of;
using ridgeline::tests::workload;

using Names = std::vector<std::uint64_t>;

/// Leading names that two lists have in common.
std::size_t alike(const Names& a, const Names& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

std::string generated(const std::string& prefix) {
  return "{requests: 3000, arrivals: {poisson: {rate: 5 /s}}, prompt_tokens: 50, output_tokens: 9, "
         "shared_prefix: " +
         prefix + "}";
}

std::vector<Request> requests(const std::string& prefix, std::uint64_t seed = 1) {
  return drain(*make_request_source(workload(generated(prefix)), seed));
}

}  // namespace

TEST_CASE("Only whole blocks that lie in shared pieces have names", "[workloads][prefix]") {
  CHECK(block_names({}, 16).empty());
  CHECK(block_names({{1, 15}}, 16).empty());
  CHECK(block_names({{1, 16}}, 16).size() == 1);
  CHECK(block_names({{1, 10}, {2, 22}}, 16).size() == 2);  // 32 tokens
  CHECK(block_names({{1, 1024}}, 16).size() == 64);
}

TEST_CASE("Prompts are alike as far as their pieces are", "[workloads][prefix]") {
  const Names a = block_names({{1, 100}, {2, 100}}, 16);
  CHECK(alike(a, block_names({{1, 100}, {2, 60}}, 16)) == 10);  // 160 tokens
  CHECK(alike(a, block_names({{1, 100}, {3, 100}}, 16)) == 6);  // 100 tokens, whole blocks of 16
  CHECK(alike(a, block_names({{1, 200}}, 16)) == 6);
  CHECK(alike(a, block_names({{2, 100}, {1, 100}}, 16)) == 0);
  // What follows after a difference is never the same again: keys and values depend on all before.
  const Names b = block_names({{9, 100}, {2, 100}}, 16);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] != b[i]);
  CHECK(std::set<std::uint64_t>(a.begin(), a.end()).size() == a.size());
}

TEST_CASE("A group's prefix comes before a request's own tokens", "[workloads][prefix]") {
  std::map<std::uint64_t, int> groups;
  for (const Request& r : requests("{groups: 4, tokens: 1024}")) {
    CHECK(r.prompt_tokens == 1024 + 50);
    REQUIRE(r.shared.size() == 1);
    CHECK(r.shared[0].tokens == 1024);
    ++groups[r.shared[0].text];
  }
  CHECK(groups.size() == 4);
  // 750 each, standard deviation sqrt(3000 x 1/4 x 3/4) = 24: five of them.
  for (const auto& [group, n] : groups) CHECK(std::abs(n - 750) < 120);
}

TEST_CASE("By Zipf's law the first group is the most likely", "[workloads][prefix]") {
  std::map<std::uint64_t, int> groups;
  for (const Request& r : requests("{groups: 3, tokens: 16, zipf: 1}")) ++groups[r.shared[0].text];
  // Weights 1, 1/2 and 1/3 of 11/6: 1636, 818 and 545 of 3000, deviations below 28.
  CHECK(std::abs(groups[0] - 1636) < 140);
  CHECK(std::abs(groups[1] - 818) < 140);
  CHECK(std::abs(groups[2] - 545) < 140);
}

TEST_CASE("A seed gives the same groups, and a prefix changes nothing else",
          "[workloads][prefix]") {
  CHECK(requests("{groups: 5, tokens: 16}") == requests("{groups: 5, tokens: 16}"));
  CHECK(requests("{groups: 5, tokens: 16}", 1) != requests("{groups: 5, tokens: 16}", 2));
  const auto with = requests("{groups: 5, tokens: 16}");
  const auto other = requests("{groups: 7, tokens: 64}");
  for (std::size_t i = 0; i < with.size(); ++i) CHECK(with[i].arrival == other[i].arrival);
}

TEST_CASE("A prefix that cannot be is named with its place", "[workloads][prefix]") {
  const auto error = [](const std::string& yaml) {
    return error_of([&] { static_cast<void>(workload(yaml)); });
  };
  CHECK(error(generated("{groups: 0, tokens: 16}")).find("groups: expected") != std::string::npos);
  CHECK(error(generated("{groups: 4}")).find("tokens: expected") != std::string::npos);
  CHECK(error(generated("{groups: 4, tokens: 16, zipf: -1}"))
            .find("zipf: expected an exponent from 0 to 10") != std::string::npos);
  CHECK(error("{training: {microbatch: 8, sequence: 16}, shared_prefix: {groups: 1, tokens: 16}}")
            .find("cannot stand beside 'training'") != std::string::npos);
}

TEST_CASE("Blocks of Mooncake's conversations come again as often as their hashes do",
          "[workloads][prefix]") {
  const auto file = ridgeline::tests::corpus("workloads/mooncake_conversation_trace.jsonl");
  if (!file) return;
  std::set<std::uint64_t> seen;
  std::int64_t blocks = 0;
  std::int64_t again = 0;
  for (const Request& r : read_trace(*file).requests) {
    const Names names = block_names(r.shared, 512);
    for (const std::uint64_t name : names) again += seen.count(name) > 0 ? 1 : 0;
    blocks += static_cast<std::int64_t>(names.size());
    seen.insert(names.begin(), names.end());
  }
  // Counted by a few lines of Python over the file's hash_ids, the last of a row only where it is
  // of 512 tokens.
  CHECK(blocks == 276'491);
  CHECK(again == 105'592);
}
