// Constants from measurements of a mechanism that is known.

#include "fidelity/fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "core/error.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Constant;
using fidelity::fit;
using fidelity::FitResult;

/// A kernel of `size` takes fixed + size / rate.
struct Sample {
  double size = 0.0;
  double measured = 0.0;
};
double time_of(double size, double fixed, double rate) { return fixed + size / rate; }

std::vector<Sample> samples(double fixed, double rate, double noise, unsigned seed,
                            int count = 200) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(0.0, noise);
  std::vector<Sample> out;
  for (int i = 0; i < count; ++i) {
    const double size = std::pow(10.0, -2.0 + 4.0 * i / count);  // 0.01 to 100 times the rate
    out.push_back({size, time_of(size, fixed, rate) * std::exp(error(random))});
  }
  return out;
}

fidelity::Residuals residuals_of(const std::vector<Sample>& rows) {
  return [&rows](const std::vector<double>& values, std::vector<double>& residuals) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      residuals[i] = std::log(time_of(rows[i].size, values[0], values[1]) / rows[i].measured);
  };
}

const std::vector<Constant> kGuess{{"fixed", 1.0, 0.1, 100.0}, {"rate", 10.0, 0.1, 100.0}};

TEST_CASE("a fit finds the constants of data without noise", "[fit]") {
  const auto rows = samples(3.0, 2.0, 0.0, 1);
  const FitResult result = fit(kGuess, rows.size(), residuals_of(rows));
  CHECK(result.constants[0].name == "fixed");
  CHECK(result.constants[0].value == Approx(3.0).epsilon(0.002));
  CHECK(result.constants[1].value == Approx(2.0).epsilon(0.002));
  CHECK(result.rows == 200);
  CHECK(result.evaluations > 0);
  CHECK_FALSE(result.constants[0].at_bound);
}

TEST_CASE("constants of noisy data lie within their standard errors as often as they should",
          "[fit]") {
  int within_one = 0;
  int within_three = 0;
  constexpr int kFits = 40;
  double stated = 0.0;
  double squares = 0.0;
  for (unsigned seed = 0; seed < kFits; ++seed) {
    const auto rows = samples(3.0, 2.0, 0.05, seed);
    const FitResult result = fit(kGuess, rows.size(), residuals_of(rows));
    const double off = std::log(result.constants[1].value / 2.0);
    stated += result.constants[1].error / kFits;
    squares += off * off / kFits;
    within_one += std::abs(off) < result.constants[1].error ? 1 : 0;
    within_three += std::abs(off) < 3.0 * result.constants[1].error ? 1 : 0;
  }
  CHECK(within_three >= kFits - 1);
  CHECK(within_one > kFits / 2);  // two thirds
  CHECK(within_one < kFits);
  CHECK(stated / std::sqrt(squares) > 0.7);  // neither boasting nor too modest
  CHECK(stated / std::sqrt(squares) < 1.4);
}

TEST_CASE("four times the rows halve the standard errors", "[fit]") {
  const auto few = samples(3.0, 2.0, 0.05, 7, 200);
  const auto many = samples(3.0, 2.0, 0.05, 7, 800);
  const double of_few = fit(kGuess, few.size(), residuals_of(few)).constants[0].error;
  const double of_many = fit(kGuess, many.size(), residuals_of(many)).constants[0].error;
  CHECK(of_few / of_many == Approx(2.0).epsilon(0.2));
}

TEST_CASE("a constant that no row depends on has an infinite error, and spoils no other", "[fit]") {
  const auto rows = samples(3.0, 2.0, 0.02, 3);
  auto constants = kGuess;
  constants.push_back({"nothing", 5.0, 1.0, 20.0});
  const FitResult result = fit(constants, rows.size(), residuals_of(rows));
  CHECK(std::isinf(result.constants[2].error));
  CHECK(std::isfinite(result.constants[0].error));
  CHECK(result.constants[0].value == Approx(3.0).epsilon(0.03));
  CHECK(result.constants[1].value == Approx(2.0).epsilon(0.03));
}

TEST_CASE("constants that rows know only by their product are not determined", "[fit]") {
  const auto rows = samples(3.0, 2.0, 0.02, 3);
  const FitResult result =
      fit({{"fixed", 1.0, 0.1, 100.0}, {"rate", 5.0, 0.1, 100.0}, {"share", 0.5, 0.1, 10.0}},
          rows.size(), [&rows](const std::vector<double>& v, std::vector<double>& residuals) {
            for (std::size_t i = 0; i < rows.size(); ++i)
              residuals[i] = std::log(time_of(rows[i].size, v[0], v[1] * v[2]) / rows[i].measured);
          });
  CHECK(std::isfinite(result.constants[0].error));
  CHECK(std::isinf(result.constants[1].error));
  CHECK(std::isinf(result.constants[2].error));
  CHECK(result.constants[1].value * result.constants[2].value == Approx(2.0).epsilon(0.03));
}

TEST_CASE("a constant stays between its bounds, and says when it ends at one", "[fit]") {
  const auto rows = samples(3.0, 2.0, 0.0, 1);
  const FitResult result =
      fit({{"fixed", 1.0, 0.1, 100.0}, {"rate", 1.0, 0.5, 1.5}}, rows.size(), residuals_of(rows));
  CHECK(result.constants[1].value <= 1.5);
  CHECK(result.constants[1].value > 1.4);
  CHECK(result.constants[1].at_bound);
  CHECK_FALSE(result.constants[0].at_bound);
}

TEST_CASE("a start at its bound can leave it", "[fit]") {
  const auto rows = samples(3.0, 2.0, 0.0, 1);
  const FitResult result =
      fit({{"fixed", 1.0, 1.0, 100.0}, {"rate", 10.0, 0.1, 10.0}}, rows.size(), residuals_of(rows));
  CHECK(result.constants[0].value == Approx(3.0).epsilon(0.01));
  CHECK(result.constants[1].value == Approx(2.0).epsilon(0.01));
}

TEST_CASE("rows that are far off count linearly", "[fit]") {
  // One constant, ten rows that say 1 and one that says e^r: with squares it would go to
  // exp(r / 11). The outlier pulls with 0.2 whatever r is, the others hold with ten times the
  // distance: 0.02.
  const auto fitted = [](double r) {
    return std::log(fit({{"c", 1.1, 0.01, 100.0}}, 11,
                        [r](const std::vector<double>& v, std::vector<double>& residuals) {
                          std::fill(residuals.begin(), residuals.end(), std::log(v[0]));
                          residuals[10] = std::log(v[0]) - r;
                        })
                        .constants[0]
                        .value);
  };
  CHECK(fitted(2.0) == Approx(0.02).margin(0.003));
  CHECK(fitted(4.0) == Approx(0.02).margin(0.003));  // squares: 0.36
}

TEST_CASE("a fit that makes no sense is our mistake", "[fit]") {
  const auto none = [](const std::vector<double>&, std::vector<double>&) {};
  const auto of = [&](double start, double low, double high, std::size_t rows) {
    static_cast<void>(fit({{"c", start, low, high}}, rows, none));
  };
  CHECK_THROWS_AS(of(1.0, 2.0, 3.0, 5), core::InvariantError);   // starts below
  CHECK_THROWS_AS(of(4.0, 2.0, 3.0, 5), core::InvariantError);   // above
  CHECK_THROWS_AS(of(1.0, -1.0, 3.0, 5), core::InvariantError);  // not positive
  CHECK_THROWS_AS(of(1.0, 1.0, 1.0, 5), core::InvariantError);   // no room
  CHECK_THROWS_AS(of(1.0, 0.5, 2.0, 0), core::InvariantError);   // no rows
}

TEST_CASE("errors are summed up by median, nine tenths, bias and what is beyond twice", "[fit]") {
  const auto s = fidelity::summarize_errors({1.0, 1.1, 0.9, 1.3, 3.0});
  CHECK(s.rows == 5);
  CHECK(s.median == Approx(0.1));  // of 0, 0.1, 0.1, 0.3, 2
  CHECK(s.bias == Approx(0.1));    // 1.1 stands in the middle
  CHECK(s.p90 == Approx(2.0));     // nearest to place 0.9 x 4
  CHECK(s.beyond_twice == 1);
  CHECK(fidelity::summarize_errors({}).rows == 0);
  CHECK(fidelity::summarize_errors({0.4}).beyond_twice == 1);
}

}  // namespace
}  // namespace ridgeline::tests
