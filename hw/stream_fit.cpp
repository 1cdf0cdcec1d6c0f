#include "hw/stream_fit.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "core/error.hpp"

namespace ridgeline::hw {

StreamFit fit_stream(const std::vector<StreamPoint>& points) {
  if (points.size() < 3)
    throw core::InvariantError("a fit of ramp and bandwidth needs three points");
  const auto n = static_cast<Eigen::Index>(points.size());
  // Rows of 1/t (ramp + bytes x slowness) = 1, in microseconds and megabytes to keep the columns of
  // like size.
  Eigen::MatrixXd design(n, 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    const StreamPoint& p = points[static_cast<std::size_t>(i)];
    const double microseconds = p.time.value() * 1e6;
    design(i, 0) = 1.0 / microseconds;
    design(i, 1) = p.bytes.value() * 1e-6 / microseconds;
  }
  const Eigen::VectorXd target = Eigen::VectorXd::Ones(n);
  const auto solver = design.colPivHouseholderQr();
  if (solver.rank() < 2)
    throw core::InvariantError("a fit of ramp and bandwidth needs points of different sizes");
  const Eigen::Vector2d solution = solver.solve(target);
  const Eigen::VectorXd residuals = design * solution - target;
  const double variance = residuals.squaredNorm() / static_cast<double>(n - 2);
  const Eigen::Matrix2d covariance = variance * (design.transpose() * design).inverse();

  StreamFit fit;
  fit.ramp = core::Seconds{solution(0) * 1e-6};
  fit.bandwidth = core::BytesPerSecond{1e12 / solution(1)};
  fit.ramp_error = core::Seconds{std::sqrt(covariance(0, 0)) * 1e-6};
  fit.bandwidth_error = fit.bandwidth * (std::sqrt(covariance(1, 1)) / solution(1));
  fit.residual = std::sqrt(residuals.squaredNorm() / static_cast<double>(n));
  return fit;
}

}  // namespace ridgeline::hw
