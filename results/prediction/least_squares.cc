#include "results/prediction/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "base/error.h"

namespace gradwire::results {
namespace {

constexpr double kHuberCorner = 1.345;
constexpr int kPasses = 30;               ///< of weights, at most
constexpr double kNormalMedian = 1.4826;  ///< deviation of a normal over its median of |x|

/// The weighted residuals, then the priors' in the residuals' unit.
struct Weighted {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  std::span<const Unknown> unknowns;
  const Residuals& of;
  std::size_t points;
  Eigen::VectorXd roots;  ///< of the weights
  double scale = 1;

  int inputs() const { return static_cast<int>(unknowns.size()); }
  int values() const { return static_cast<int>(points + unknowns.size()); }

  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    of({x.data(), unknowns.size()}, {out.data(), points});
    const auto n = static_cast<Eigen::Index>(points);
    out.head(n).array() *= roots.array();
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      out[n + at] = scale * (x[at] - unknowns[k].prior_mean) / unknowns[k].prior_deviation;
    }
    return out.allFinite() ? 0 : -1;  // a step that leaves the model's domain is refused
  }
};

[[noreturn]] void refuse_fit(const std::string& reason, const std::string& remedy = {}) {
  throw Error(ErrorKind::kFailure, "fit", "the model", reason, remedy);
}

double robust_scale(std::span<const double> residuals, double least) {
  std::vector<double> sizes(residuals.size());
  std::transform(residuals.begin(), residuals.end(), sizes.begin(),
                 [](double r) { return std::abs(r); });
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return std::max(least, kNormalMedian * *middle);
}

/// Sets the weights from the residuals; the greatest change of one.
double reweigh(std::span<const double> residuals, double scale, std::vector<double>& weights) {
  double change = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double size = std::abs(residuals[i]) / scale;
    const double weight = size <= kHuberCorner ? 1 : kHuberCorner / size;
    change = std::max(change, std::abs(weight - weights[i]));
    weights[i] = weight;
  }
  return change;
}

void search(Weighted& problem, Eigen::VectorXd& x) {
  Eigen::NumericalDiff<Weighted, Eigen::Central> derived(problem);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Weighted, Eigen::Central>> method(derived);
  method.parameters.maxfev = 4000;
  method.parameters.xtol = method.parameters.ftol = 1e-10;
  method.minimize(x);
}

/// Names an unknown along the direction that points and priors leave open, if there is one:
/// the information's least eigenvalue, in units that make each unknown's own information 1.
void refuse_open_direction(const Weighted& problem, const Eigen::MatrixXd& information) {
  constexpr double kRoundOff = 1e-10;
  const Eigen::VectorXd unit = information.diagonal().cwiseSqrt().cwiseInverse();
  Eigen::Index at = 0;
  if (unit.allFinite()) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(unit.asDiagonal() * information *
                                                                unit.asDiagonal());
    if (solver.eigenvalues()[0] > kRoundOff) return;
    solver.eigenvectors().col(0).cwiseAbs().maxCoeff(&at);
  } else {
    unit.maxCoeff(&at);  // no point depends on it
  }
  if (std::isfinite(problem.unknowns[static_cast<std::size_t>(at)].prior_deviation)) return;
  refuse_fit("the points do not determine " + problem.unknowns[static_cast<std::size_t>(at)].name,
             "add points, or give it a prior");
}

/// Covariance, and how much of each unknown's variance its prior alone would explain.
void add_covariance(const Weighted& problem, const Eigen::VectorXd& x, LeastSquaresFit& fit) {
  Eigen::MatrixXd slope(problem.values(), problem.inputs());
  Eigen::NumericalDiff<Weighted, Eigen::Central>(problem).df(x, slope);
  const Eigen::MatrixXd information = slope.transpose() * slope;
  refuse_open_direction(problem, information);
  const Eigen::Index n = x.size();
  const Eigen::MatrixXd inverse =
      information.ldlt().solve(Eigen::MatrixXd::Identity(n, n)) * (fit.scale * fit.scale);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double prior = problem.unknowns[static_cast<std::size_t>(k)].prior_deviation;
    fit.prior_share.push_back(std::min(1.0, inverse(k, k) / (prior * prior)));
    for (Eigen::Index l = 0; l < n; ++l) fit.covariance.push_back(inverse(k, l));
  }
}

}  // namespace

double LeastSquaresFit::deviation(std::size_t unknown) const {
  return std::sqrt(covariance[unknown * values.size() + unknown]);
}

std::vector<std::vector<double>> sigma_points(const LeastSquaresFit& fit) {
  const std::size_t n = fit.values.size();
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::Map<const Eigen::MatrixXd> covariance(fit.covariance.data(), size, size);
  const Eigen::MatrixXd root = covariance.llt().matrixL();
  const Eigen::Map<const Eigen::VectorXd> mean(fit.values.data(), size);
  std::vector<std::vector<double>> points;
  for (std::size_t row = 0; row < std::bit_ceil(n); ++row) {
    Eigen::VectorXd signs(size);
    for (std::size_t k = 0; k < n; ++k)
      signs[static_cast<Eigen::Index>(k)] = std::popcount(row & k) % 2 == 0 ? 1 : -1;
    const Eigen::VectorXd away = root * signs;
    for (const Eigen::VectorXd& x : {Eigen::VectorXd(mean + away), Eigen::VectorXd(mean - away)})
      points.emplace_back(x.begin(), x.end());
  }
  return points;
}

LeastSquaresFit fit_least_squares(std::span<const Unknown> unknowns, std::size_t points,
                                  const Residuals& residuals, const LeastSquaresOptions& options) {
  if (points == 0) refuse_fit("there is no point");
  LeastSquaresFit fit;
  fit.residuals.resize(points);
  fit.weights.assign(points, 1);
  Eigen::VectorXd x(static_cast<Eigen::Index>(unknowns.size()));
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    x[static_cast<Eigen::Index>(k)] = unknowns[k].start;
  Weighted problem{unknowns, residuals, points,
                   Eigen::VectorXd::Ones(static_cast<Eigen::Index>(points)), options.least_scale};
  const std::span<const double> at(x.data(), unknowns.size());
  residuals(at, fit.residuals);
  for (const double r : fit.residuals)
    if (!std::isfinite(r)) refuse_fit("a residual at the start is not a number");
  for (int pass = 0; pass < kPasses; ++pass) {
    search(problem, x);
    residuals(at, fit.residuals);
    problem.scale = fit.scale = robust_scale(fit.residuals, options.least_scale);
    const double change = reweigh(fit.residuals, fit.scale, fit.weights);
    for (std::size_t i = 0; i < points; ++i)
      problem.roots[static_cast<Eigen::Index>(i)] = std::sqrt(fit.weights[i]);
    if (pass > 0 && change < 1e-3) break;
  }
  fit.values.assign(at.begin(), at.end());
  add_covariance(problem, x, fit);
  return fit;
}

}  // namespace gradwire::results
