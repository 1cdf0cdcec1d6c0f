#include "fidelity/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "core/error.hpp"

namespace ridgeline::fidelity {
namespace {

constexpr double kStep = 0.01;  // relative, of a constant
// Steps of the search variable are relative to it, so it is kept away from zero; 0.003 x 10 moves a
// constant by some percent: tiles and waves make costs steps, which a smaller one would miss.
constexpr double kOffset = 10.0;
constexpr double kSearchStep = 0.003;
constexpr double kLinearFrom = 0.2;  // |log ratio| from which a row counts linearly
constexpr int kMostEvaluations = 400;
constexpr double kSilent = 1e-9;  // length of a column of derivatives: no row depends on it
constexpr double kFlat = 1e-9;    // eigenvalue of normed columns: a direction that no row notices
constexpr double kPart = 1e-4;  // share of a constant in such a direction that is no rounding error
constexpr double kFirstStep = 0.1;  // relative; a larger one may end where the scale is flat

/// Between its bounds on a logarithmic scale, whatever x is.
double value_at(const Constant& c, double x) {
  const double share = 1.0 / (1.0 + std::exp(kOffset - x));
  return std::exp(std::log(c.low) + (std::log(c.high) - std::log(c.low)) * share);
}
double x_of(const Constant& c, double value) {
  const double share = std::clamp(
      (std::log(value) - std::log(c.low)) / (std::log(c.high) - std::log(c.low)), 1e-3, 1.0 - 1e-3);
  return kOffset + std::log(share / (1.0 - share));
}

/// sign(r) sqrt(2 d^2 (sqrt(1 + (r/d)^2) - 1)): its square is the pseudo-Huber loss.
double softened(double r) {
  const double d = kLinearFrom;
  const double loss = 2.0 * d * d * (std::sqrt(1.0 + (r / d) * (r / d)) - 1.0);
  return std::copysign(std::sqrt(std::max(0.0, loss)), r);
}

struct Problem {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<Constant>& constants;
  std::size_t rows;
  const Residuals& residuals;
  mutable int evaluations = 0;
  mutable std::vector<double> buffer{};

  [[nodiscard]] int inputs() const { return static_cast<int>(constants.size()); }
  [[nodiscard]] int values() const { return static_cast<int>(rows); }

  [[nodiscard]] std::vector<double> values_at(const Eigen::VectorXd& x) const {
    std::vector<double> v;
    for (std::size_t i = 0; i < constants.size(); ++i)
      v.push_back(value_at(constants[i], x[static_cast<Eigen::Index>(i)]));
    return v;
  }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    ++evaluations;
    buffer.assign(rows, 0.0);
    residuals(values_at(x), buffer);
    for (std::size_t i = 0; i < rows; ++i) out[static_cast<Eigen::Index>(i)] = softened(buffer[i]);
    return 0;
  }
};

/// Standard errors of the logarithms of the values: s^2 (J^T J)^-1 by central differences.
std::vector<double> standard_errors(const Problem& problem, const std::vector<double>& at) {
  const auto n = static_cast<Eigen::Index>(problem.rows);
  const auto k = static_cast<Eigen::Index>(at.size());
  Eigen::MatrixXd jacobian(n, k);
  std::vector<double> up(problem.rows);
  std::vector<double> down(problem.rows);
  for (Eigen::Index j = 0; j < k; ++j) {
    std::vector<double> v = at;
    const auto i = static_cast<std::size_t>(j);
    v[i] = at[i] * std::exp(kStep);
    problem.residuals(v, up);
    v[i] = at[i] * std::exp(-kStep);
    problem.residuals(v, down);
    for (Eigen::Index r = 0; r < n; ++r) {
      const auto row = static_cast<std::size_t>(r);
      jacobian(r, j) = (softened(up[row]) - softened(down[row])) / (2.0 * kStep);
    }
  }
  problem.residuals(at, up);
  double squares = 0.0;
  for (const double r : up) squares += softened(r) * softened(r);
  const double variance = squares / std::max(1.0, static_cast<double>(n - k));
  // Every column of length one, so that constants of all sizes are alike in the eigenvalues.
  const Eigen::VectorXd lengths = jacobian.colwise().norm();
  for (Eigen::Index j = 0; j < k; ++j) {
    if (lengths[j] > kSilent) jacobian.col(j) /= lengths[j];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> normal(jacobian.transpose() * jacobian);
  std::vector<double> errors;
  for (Eigen::Index j = 0; j < k; ++j) {
    double sum = 0.0;
    bool determined = lengths[j] > kSilent;
    for (Eigen::Index i = 0; i < k; ++i) {
      const double share = normal.eigenvectors()(j, i) * normal.eigenvectors()(j, i);
      if (normal.eigenvalues()[i] > kFlat) {
        sum += share / normal.eigenvalues()[i];
      } else if (share > kPart) {  // constants that can move together without any row noticing
        determined = false;
      }
    }
    errors.push_back(determined ? std::sqrt(variance * sum) / lengths[j]
                                : std::numeric_limits<double>::infinity());
  }
  return errors;
}

double quantile(std::vector<double>& values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

FitResult fit(const std::vector<Constant>& constants, std::size_t rows,
              const Residuals& residuals) {
  for (const Constant& c : constants) {
    if (!(c.low > 0.0 && c.low <= c.start && c.start <= c.high && c.low < c.high))
      throw core::InvariantError("fit: " + c.name + " does not start between its bounds");
  }
  if (rows < constants.size()) throw core::InvariantError("fit: fewer rows than constants");

  Problem problem{constants, rows, residuals};
  Eigen::VectorXd x(static_cast<Eigen::Index>(constants.size()));
  for (std::size_t i = 0; i < constants.size(); ++i)
    x[static_cast<Eigen::Index>(i)] = x_of(constants[i], constants[i].start);
  Eigen::NumericalDiff<Problem, Eigen::Central> differences(problem, kSearchStep * kSearchStep);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Problem, Eigen::Central>> search(differences);
  search.parameters.maxfev = kMostEvaluations;
  search.parameters.factor = kFirstStep;
  search.parameters.xtol = 1e-4;
  search.parameters.ftol = 1e-5;
  search.minimize(x);

  FitResult result;
  result.rows = rows;
  result.evaluations = differences.evaluations;
  const std::vector<double> values = problem.values_at(x);
  const std::vector<double> errors = standard_errors(problem, values);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Constant& c = constants[i];
    const bool at_bound = values[i] < c.low * 1.01 || values[i] > c.high / 1.01;
    result.constants.push_back({c.name, values[i], errors[i], at_bound});
  }
  return result;
}

ErrorSummary summarize_errors(const std::vector<double>& ratios) {
  ErrorSummary s;
  s.rows = ratios.size();
  if (ratios.empty()) return s;
  std::vector<double> errors;
  for (const double r : ratios) {
    errors.push_back(std::abs(r - 1.0));
    if (r > 2.0 || r < 0.5) ++s.beyond_twice;
  }
  s.median = quantile(errors, 0.5);
  s.p90 = quantile(errors, 0.9);
  std::vector<double> copy = ratios;
  s.bias = quantile(copy, 0.5) - 1.0;
  return s;
}

}  // namespace ridgeline::fidelity
