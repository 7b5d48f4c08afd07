#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

/// Robust least squares with priors, for few unknowns and few points.
///
/// Model. Minimises sum_i s^2 rho(r_i(x) / s) + sum_k s^2 ((x_k - m_k) / d_k)^2, where r_i are the
/// residuals, rho is Huber's loss with its corner at 1.345 (95 % of least squares' efficiency on
/// normal residuals; P. J. Huber, Annals of Mathematical Statistics 35, 1964, 73), s is 1.4826
/// times the median of |r_i|, and m_k, d_k are the prior mean and deviation of unknown k. Weights
/// and s are found by turns with a Levenberg-Marquardt search (Eigen's) in between.
///
/// It breaks down where half of the points or more are outliers, and where the residuals have
/// several minima: the search starts from one place.
namespace gradwire::results {

struct Unknown {
  std::string name;
  double start = 0;
  double prior_mean = 0;
  /// Of the prior; infinite = none (then the points must determine it).
  double prior_deviation = std::numeric_limits<double>::infinity();
};

/// Fills residuals [points] at `values` [unknowns]. Must be finite near the start.
using Residuals = std::function<void(std::span<const double> values, std::span<double> residuals)>;

struct LeastSquaresOptions {
  /// The least s: below it residuals are taken for reading errors, not for the model's.
  double least_scale = 1e-3;
};

struct LeastSquaresFit {
  std::vector<double> values;      ///< [unknowns]
  std::vector<double> covariance;  ///< [unknowns][unknowns], of the values, prior included
  std::vector<double> residuals;   ///< [points]
  std::vector<double> weights;     ///< [points] 0..1; 1 = taken whole
  double scale = 0;                ///< s
  /// [unknowns] What the prior alone left of the variance that the fit has: near 1 where only the
  /// prior decides (1 = the points say nothing), near 0 where the points do.
  std::vector<double> prior_share;
  /// Whether the points determine it: a prior share below one half.
  bool identified(std::size_t unknown) const { return prior_share[unknown] < 0.5; }
  double deviation(std::size_t unknown) const;
};

/// [about 2 unknowns][unknowns] Values whose mean and covariance are the fit's: the rows of a
/// Hadamard matrix and their opposites, each one deviation away along every axis of a root.
std::vector<std::vector<double>> sigma_points(const LeastSquaresFit& fit);

/// Throws Error where there is no point, where the residuals at the start are not finite, and where
/// points and priors together leave an unknown open (names it).
LeastSquaresFit fit_least_squares(std::span<const Unknown> unknowns, std::size_t points,
                                  const Residuals& residuals,
                                  const LeastSquaresOptions& options = {});

}  // namespace gradwire::results
