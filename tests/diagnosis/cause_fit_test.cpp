// The shares that change least while agreeing with every clue.

#include "diagnosis/cause_fit.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::CauseBounds;
using diagnosis::Causes;
using diagnosis::CauseShares;
using diagnosis::Clue;
using diagnosis::kCauses;

namespace {

using Known = std::array<CauseBounds, kCauses>;
using Usual = std::array<double, kCauses>;

Known shares(std::initializer_list<std::pair<Cause, double>> best) {
  Known out{};
  for (const auto& [cause, share] : best)
    out[static_cast<std::size_t>(cause)] = {share, 0.0, share};
  return out;
}

/// Every cause is as usual as any other, collectives too.
Usual even() {
  Usual out{};
  out.fill(1.0 / 8.0);
  out[static_cast<std::size_t>(Cause::unexplained)] = 0.0;
  return out;
}

Clue bound(Causes causes, core::Interval share) {
  Clue c;
  c.causes = causes;
  c.share = share;
  c.unit = "ratio";  // so that the likely share is the least one
  return c;
}

Clue suspicion(Causes causes, double factor) {
  Clue c;
  c.causes = causes;
  c.suspicion = factor;
  c.measured = false;
  return c;
}

double at(const CauseShares& fitted, Cause cause) {
  return fitted[static_cast<std::size_t>(cause)].best;
}

double sum(const CauseShares& fitted) {
  double all = 0.0;
  for (const auto& share : fitted) all += share.best;
  return all;
}

double inside(const CauseShares& fitted, const Clue& clue) {
  double all = 0.0;
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (clue.causes.has(static_cast<Cause>(i))) all += fitted[i].best;
  }
  return all;
}

}  // namespace

TEST_CASE("Without clues the shares stay what the step itself says") {
  const auto fitted = fit_causes(shares({{Cause::bandwidth, 0.4}, {Cause::host, 0.6}}), {}, even());
  CHECK(at(fitted, Cause::bandwidth) == Approx(0.4));
  CHECK(at(fitted, Cause::host) == Approx(0.6));
}

TEST_CASE("A clue that the shares agree with already changes nothing") {
  const auto fitted = fit_causes(shares({{Cause::bandwidth, 0.4}, {Cause::host, 0.6}}),
                                 {bound(Cause::host, {0.5, 1.0})}, even());
  CHECK(at(fitted, Cause::bandwidth) == Approx(0.4));
  CHECK(at(fitted, Cause::host) == Approx(0.6));
}

TEST_CASE("A share that must grow takes from the others in proportion") {
  // Host from 20 to 60 %: the other 80 % shrink to 40, each to half.
  const auto fitted =
      fit_causes(shares({{Cause::host, 0.2}, {Cause::kernels, 0.5}, {Cause::unexplained, 0.3}}),
                 {bound(Cause::host, {0.6, 1.0})}, even());
  CHECK(at(fitted, Cause::host) == Approx(0.6).margin(1e-6));
  CHECK(at(fitted, Cause::kernels) == Approx(0.25).margin(1e-6));
  CHECK(at(fitted, Cause::unexplained) == Approx(0.15).margin(1e-6));
}

TEST_CASE("A share that is too large shrinks to its bound") {
  const auto fitted = fit_causes(shares({{Cause::host, 0.8}, {Cause::unexplained, 0.2}}),
                                 {bound(Cause::host, {0.0, 0.3})}, even());
  CHECK(at(fitted, Cause::host) == Approx(0.3).margin(1e-6));
  CHECK(at(fitted, Cause::unexplained) == Approx(0.7).margin(1e-6));
}

TEST_CASE("Causes that a clue names together keep their proportion") {
  // 10 and 30 % must be 80 together: 20 and 60.
  const auto fitted =
      fit_causes(shares({{Cause::host, 0.1}, {Cause::launch, 0.3}, {Cause::unexplained, 0.6}}),
                 {bound({Cause::host, Cause::launch}, {0.8, 1.0})}, even());
  CHECK(at(fitted, Cause::host) == Approx(0.2).margin(1e-3));
  CHECK(at(fitted, Cause::launch) == Approx(0.6).margin(1e-3));
}

TEST_CASE("A clue can raise what the step's own numbers do not show at all") {
  const auto fitted =
      fit_causes(shares({{Cause::unexplained, 1.0}}), {bound(Cause::transfer, {0.7, 1.0})}, even());
  CHECK(at(fitted, Cause::transfer) == Approx(0.7).margin(1e-6));
}

TEST_CASE("Shares are never negative, add up to one and meet all bounds that can be met") {
  const core::RandomStream random(5, "feasible clues");
  std::uint64_t n = 0;
  const auto uniform = [&] { return random.uniform(n++); };
  for (int trial = 0; trial < 500; ++trial) {
    // A truth that every clue and every measured least agrees with.
    std::array<double, kCauses> truth{};
    double all = 0.0;
    for (double& x : truth) all += x = 0.02 + uniform();
    for (double& x : truth) x /= all;
    Known known{};
    double assigned = 0.0;
    for (std::size_t i = 0; i + 1 < kCauses; ++i) {
      const double low = 0.5 * truth[i] * uniform();
      known[i] = {low, low, 1.0};
      assigned += low;
    }
    known[kCauses - 1] = {1.0 - assigned, 0.0, 1.0};
    std::vector<Clue> clues;
    for (int c = 0; c < 4; ++c) {
      // All causes but `unexplained`, and of those some.
      Causes causes{Cause::bandwidth, Cause::compute,       Cause::kernels,  Cause::launch,
                    Cause::host,      Cause::communication, Cause::transfer, Cause::capacity};
      double share = 0.0;
      for (std::size_t i = 0; i + 1 < kCauses; ++i) {
        if (uniform() > 0.4)
          causes = causes.without(static_cast<Cause>(i));
        else
          share += truth[i];
      }
      if (causes.empty()) continue;
      clues.push_back(bound(causes, {share * (0.8 + 0.15 * uniform()),
                                     std::min(1.0, share * (1.05 + 0.2 * uniform()))}));
    }
    const CauseShares fitted = fit_causes(known, clues, even());
    INFO("trial " << trial);
    CHECK(sum(fitted) == Approx(1.0).epsilon(1e-9));
    for (const Clue& clue : clues) {
      CHECK(inside(fitted, clue) >= clue.share.low - 0.01);
      CHECK(inside(fitted, clue) <= clue.share.high + 0.01);
    }
    for (std::size_t i = 0; i < kCauses; ++i) {
      CHECK(fitted[i].best >= known[i].low - 0.01);
      CHECK(fitted[i].low <= fitted[i].best);
      CHECK(fitted[i].best <= fitted[i].high);
      CHECK(fitted[i].low >= 0.0);
      CHECK(fitted[i].high <= 1.0 + 1e-9);
    }
  }
}

TEST_CASE("Clues that contradict one another end in a compromise, not in a loop") {
  const std::vector<Clue> clues{bound(Cause::host, {0.9, 1.0}), bound(Cause::host, {0.0, 0.1}),
                                bound(Cause::launch, {0.8, 1.0}),
                                bound({Cause::host, Cause::launch}, {0.0, 0.05})};
  const auto fitted = fit_causes(shares({{Cause::unexplained, 1.0}}), clues, even());
  CHECK(sum(fitted) == Approx(1.0).epsilon(1e-9));
  for (const auto& share : fitted) {
    CHECK(std::isfinite(share.best));
    CHECK(share.best >= 0.0);
    CHECK(share.low <= share.high);
  }
}

TEST_CASE("What was measured holds whatever is claimed of it") {
  // 40 % of the time was measured as the host's; a claim of at most 10 % cannot take it away.
  Known known = shares({{Cause::host, 0.4}, {Cause::unexplained, 0.6}});
  known[static_cast<std::size_t>(Cause::host)].low = 0.4;
  const auto fitted = fit_causes(known, {bound(Cause::host, {0.0, 0.1})}, even());
  CHECK(at(fitted, Cause::host) >= 0.4 * 0.99);
}

TEST_CASE("What has a clock of its own takes no more than that, whatever must go elsewhere") {
  // Reads of 70 % are said to be 10 at most; the host's clock shows 20, so the rest is kernels.
  Known known = shares({{Cause::bandwidth, 0.7}, {Cause::host, 0.2}, {Cause::kernels, 0.1}});
  known[static_cast<std::size_t>(Cause::host)] = {0.2, 0.2, 0.2, true};
  const auto fitted = fit_causes(known, {bound(Cause::bandwidth, {0.0, 0.1})}, even());
  CHECK(at(fitted, Cause::host) == Approx(0.2).margin(1e-6));
  CHECK(at(fitted, Cause::bandwidth) == Approx(0.1).margin(1e-3));
  CHECK(at(fitted, Cause::kernels) == Approx(0.7).margin(1e-3));
}

TEST_CASE("A suspicion moves only time that no measurement separates, and never all of it") {
  const auto fitted = fit_causes(
      shares({{Cause::bandwidth, 0.4}, {Cause::kernels, 0.2}, {Cause::unexplained, 0.4}}),
      {suspicion(Cause::launch, 12.0)}, even());
  CHECK(at(fitted, Cause::bandwidth) == Approx(0.4));
  CHECK(at(fitted, Cause::kernels) == Approx(0.2));
  // Twelve parts of launches against one of each of the other seven: 12/19 of the 40 %.
  CHECK(at(fitted, Cause::launch) == Approx(0.4 * 12.0 / 19.0).epsilon(1e-6));
  CHECK(at(fitted, Cause::unexplained) > 0.0);
  // With nothing open it moves nothing.
  const auto closed = fit_causes(shares({{Cause::bandwidth, 0.4}, {Cause::kernels, 0.6}}),
                                 {suspicion(Cause::launch, 12.0)}, even());
  CHECK(at(closed, Cause::launch) == 0.0);
}

TEST_CASE("The more suspects there are, the less is laid to each") {
  const Known open = shares({{Cause::unexplained, 1.0}});
  const auto one = fit_causes(open, {suspicion(Cause::launch, 12.0)}, even());
  const auto two =
      fit_causes(open, {suspicion(Cause::launch, 12.0), suspicion(Cause::transfer, 12.0)}, even());
  CHECK(at(two, Cause::launch) < at(one, Cause::launch));
  CHECK(at(two, Cause::launch) == Approx(at(two, Cause::transfer)));
  CHECK(at(two, Cause::unexplained) < at(one, Cause::unexplained));
}

TEST_CASE("One device has no collectives among several causes that a clue names") {
  Usual alone = even();
  alone[static_cast<std::size_t>(Cause::communication)] = 0.0;
  const auto fitted =
      fit_causes(shares({{Cause::unexplained, 1.0}}),
                 {bound({Cause::communication, Cause::launch, Cause::host}, {0.6, 1.0})}, alone);
  CHECK(at(fitted, Cause::communication) == 0.0);
  CHECK(at(fitted, Cause::launch) + at(fitted, Cause::host) == Approx(0.6).margin(1e-6));
}

TEST_CASE("The order of suspicions does not matter, that of clues hardly") {
  const std::vector<Clue> clues{bound({Cause::launch, Cause::host}, {0.5, 0.7}),
                                bound({Cause::host, Cause::communication}, {0.2, 0.4}),
                                suspicion(Cause::kernels, 12.0), suspicion(Cause::host, 4.0)};
  std::vector<Clue> reversed(clues.rbegin(), clues.rend());
  const Known open = shares({{Cause::bandwidth, 0.1}, {Cause::unexplained, 0.9}});
  const auto forward = fit_causes(open, clues, even());
  const auto backward = fit_causes(open, reversed, even());
  for (std::size_t i = 0; i < kCauses; ++i)
    CHECK(forward[i].best == Approx(backward[i].best).margin(0.05));
  const auto suspects = [&](const Clue& a, const Clue& b) {
    return fit_causes(open, {a, b}, even());
  };
  const auto ab = suspects(clues[2], clues[3]);
  const auto ba = suspects(clues[3], clues[2]);
  for (std::size_t i = 0; i < kCauses; ++i) CHECK(ab[i].best == ba[i].best);
}
