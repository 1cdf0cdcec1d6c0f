#include "whatif/quantities.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "tests/sim/fixtures.hpp"
#include "whatif/profile.hpp"

using namespace ridgeline;
using whatif::quantities;
using whatif::quantity;

namespace {

/// A run with all that quantities are computed from.
struct Look {
  explicit Look(sim::RunResult run, const whatif::ProfileChoice& choice = {})
      : result(std::move(run)),
        metrics(sim::measure(result)),
        summary(whatif::profile(result, choice)),
        window(whatif::window_of(result, choice)) {}
  [[nodiscard]] double of(std::string_view name) const {
    return quantity(name).of({result, metrics, summary, window});
  }
  sim::RunResult result;
  sim::Metrics metrics;
  timeline::Summary summary;
  timeline::Window window;
};

}  // namespace

TEST_CASE("Every quantity has a name of its own, a unit and a meaning", "[whatif][quantities]") {
  std::set<std::string_view> names;
  std::set<std::string_view> meanings;
  for (const auto& q : quantities()) {
    INFO(q.name);
    CHECK(names.insert(q.name).second);
    CHECK(meanings.insert(q.meaning).second);
    CHECK_FALSE(q.unit.empty());
    CHECK(q.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
          std::string_view::npos);
    CHECK(&quantity(q.name) == &q);
  }
  CHECK(whatif::quantity_names().size() == quantities().size());
  CHECK_THROWS_AS(quantity("happiness"), core::InvariantError);
}

TEST_CASE("A quantity in seconds or bytes says so in its name, a share has no unit",
          "[whatif][quantities]") {
  for (const auto& q : quantities()) {
    INFO(q.name);
    if (q.unit == "s") CHECK(q.name.ends_with("_seconds"));
    if (q.unit == "B") CHECK(q.name.ends_with("_bytes"));
    if (q.name.ends_with("_fraction") || q.name.starts_with("share_")) CHECK(q.unit == "1");
  }
}

TEST_CASE("Quantities of a run are what its records say", "[whatif][quantities]") {
  // One client, 4 requests of 10 tokens in and 5 out.
  const Look look(sim::run(tests::tiny(
      {{"workload.arrivals", "{closed_loop: {concurrency: 1}}"}, {"workload.requests", "4"}})));
  CHECK(look.of("ceiling_tokens_per_second") == Approx(1e9 / tests::kTinyWeights));
  // One sequence of 15 tokens, 256 B each, beside the weights.
  CHECK(look.of("ceiling_steps_per_second") == Approx(1e9 / (tests::kTinyWeights + 15 * 256)));
  CHECK(look.of("tokens_per_second") ==
        Approx(20 / look.result.end().since_start().value()));  // it never rests
  const auto& r = look.result.requests[0];
  CHECK(look.of("ttft_seconds") == Approx(r.ttft().seconds().value()));
  CHECK(look.of("itl_seconds") == Approx((r.last_token - r.first_token).seconds().value() / 4));
  CHECK(look.of("tokens_per_second_per_sequence") * look.of("itl_seconds") == Approx(1.0));
  CHECK(look.of("flop_fraction") == look.of("issued_flop_fraction"));
  CHECK(look.of("useful_flop_fraction") < look.of("issued_flop_fraction"));
  CHECK(look.of("hbm_fraction") > 0.0);
  CHECK(look.of("hbm_fraction") < 1.0);
}

TEST_CASE("Shares are shares: none is negative and together they are at most one",
          "[whatif][quantities]") {
  for (const char* attention : {"fused", "materialised"}) {
    const Look look(sim::run(tests::tiny({{"stack.lowering.prefill_attention", attention}})));
    double sum = 0.0;
    for (const char* name : {"share_gemm", "share_flash_attention", "share_layer_norm",
                             "share_elementwise", "share_cast"}) {
      CHECK(look.of(name) >= 0.0);
      sum += look.of(name);
    }
    CHECK(sum <= 1.0 + 1e-12);
    // 4 heads x 10 x 10 x 2 bytes, where it is written out.
    CHECK(look.of("transient_bytes") ==
          (std::string(attention) == "fused" ? 0.0 : 4 * 10 * 10 * 2));
  }
}

TEST_CASE("A run in which nothing happened has quantities of zero, not of nothing",
          "[whatif][quantities]") {
  sim::RunResult nothing;  // stopped before its first step
  nothing.scenario = tests::tiny();
  const Look look(std::move(nothing));
  for (const auto& q : quantities()) {
    INFO(q.name);
    CHECK(std::isfinite(look.of(q.name)));
  }
  CHECK(look.of("tokens_per_second") == 0.0);
  CHECK(look.of("kernels_per_step") == 0.0);
}
