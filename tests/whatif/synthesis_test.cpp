#include "whatif/synthesis.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace ridgeline;
using whatif::Synthesis;

namespace {

const Synthesis& sample() {
  static const Synthesis s = whatif::synthesize(1500, 1);
  return s;
}

double alone(const Synthesis& s, const std::string& name) {
  for (const auto& m : s.measurements) {
    if (m.name == name) return m.bits;
  }
  FAIL("no measurement " << name);
  return 0.0;
}

}  // namespace

TEST_CASE("Every server has one limiter, and the label's entropy is that of their shares",
          "[whatif][synthesis]") {
  std::int64_t sum = 0;
  double bits = 0.0;
  for (const auto& [name, count] : sample().limiters) {
    sum += count;
    const double p = static_cast<double>(count) / 1500.0;
    bits -= p * std::log2(p);
  }
  CHECK(sample().servers == 1500);
  CHECK(sum == 1500);
  CHECK(sample().limiters.size() == 3);
  CHECK(sample().label_bits == Approx(bits));
  CHECK(sample().label_bits > 1.0);  // no limiter is so common that guessing would do
  CHECK(sample().label_bits <= std::log2(3.0));
}

TEST_CASE("A measurement tells between nothing and everything", "[whatif][synthesis]") {
  for (const auto& m : sample().measurements) {
    INFO(m.name);
    CHECK(m.bits > -1e-12);
    CHECK(m.bits < sample().label_bits + 1e-12);
    CHECK_FALSE(m.meaning.empty());
  }
}

TEST_CASE("A pair tells at least what each of the two does, and no more than there is",
          "[whatif][synthesis]") {
  for (const auto& p : sample().pairs) {
    INFO(p.first << " + " << p.second);
    CHECK(p.bits >= std::max(alone(sample(), p.first), alone(sample(), p.second)) - 1e-9);
    CHECK(p.bits <= sample().label_bits + 1e-9);
  }
}

TEST_CASE("Every pair is there once, the most telling first", "[whatif][synthesis]") {
  const auto& s = sample();
  const std::size_t n = s.measurements.size();
  CHECK(s.pairs.size() == n * (n - 1) / 2);
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& p : s.pairs) CHECK(seen.insert(std::minmax(p.first, p.second)).second);
  const auto more = [](const auto& a, const auto& b) { return a.bits > b.bits; };
  CHECK(std::is_sorted(s.pairs.begin(), s.pairs.end(), more));
  CHECK(std::is_sorted(s.measurements.begin(), s.measurements.end(), more));
}

TEST_CASE("The same servers every time, others for another seed", "[whatif][synthesis]") {
  const std::string once = whatif::to_json(whatif::synthesize(100, 3)).dump();
  CHECK(whatif::to_json(whatif::synthesize(100, 3)).dump() == once);
  CHECK(whatif::to_json(whatif::synthesize(100, 4)).dump() != once);
}

TEST_CASE("Both roofs together tell most of what there is to know", "[whatif][synthesis]") {
  for (const auto& p : sample().pairs) {
    if (p.first == "flop_fraction" && p.second == "hbm_fraction")
      CHECK(p.bits > 0.5 * sample().label_bits);
  }
  CHECK(alone(sample(), "flop_fraction") + alone(sample(), "hbm_fraction") >
        0.3 * sample().label_bits);
}

TEST_CASE("The report says what was held against what, in numbers, however few the servers",
          "[whatif][synthesis]") {
  for (const std::int64_t servers : {1, 2, 100}) {
    const std::string text = whatif::to_text(whatif::synthesize(servers, 1));
    INFO(text);
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("Held against " + std::to_string(servers) + " random servers") !=
          std::string::npos);
    CHECK(text.find("<- both roofs") != std::string::npos);
  }
}
