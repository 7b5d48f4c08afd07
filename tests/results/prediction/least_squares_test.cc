#include "results/prediction/least_squares.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

/// y = a + b x at x = 0..n-1.
Residuals line(std::vector<double> y) {
  return [y = std::move(y)](std::span<const double> at, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = at[0] + at[1] * static_cast<double>(i) - y[i];
  };
}

const std::vector<Unknown> kLine = {{"a", 0}, {"b", 0}};

}  // namespace

TEST_CASE("Exact points give the line they lie on") {
  // 3 + 2 x at 0..4: 3, 5, 7, 9, 11.
  const auto fit = fit_least_squares(kLine, 5, line({3, 5, 7, 9, 11}));
  CHECK(fit.values[0] == Approx(3).epsilon(1e-6));
  CHECK(fit.values[1] == Approx(2).epsilon(1e-6));
  CHECK(fit.identified(0));
  CHECK(fit.identified(1));
}

TEST_CASE("One outlier of ten moves the robust line little, the plain one much") {
  // y = x but the last, 30 instead of 9. Plain least squares: the slope moves by
  // (9 - 4.5) * 21 / sum (x - 4.5)^2 = 4.5 * 21 / 82.5 = 1.145.
  std::vector<double> y = {0, 1.02, 1.97, 3.01, 4.02, 4.98, 6.03, 6.97, 8.01, 30};
  const auto robust = fit_least_squares(kLine, 10, line(y));
  CHECK(std::abs(robust.values[1] - 1) < 0.02);
  CHECK(robust.weights[9] < 0.01);
  const auto plain = fit_least_squares(kLine, 10, line(y), {.least_scale = 1e6});
  CHECK(plain.values[1] - 1 == Approx(1.145).epsilon(0.01));
}

TEST_CASE("The covariance is that of ordinary least squares") {
  // Residuals of +-s by turns, all within Huber's corner; scale 1.4826 * 0.1.
  // Var(b) = scale^2 / sum (x - mean)^2 = 0.14826^2 / 17.5 for x = 0..5.
  const auto fit =
      fit_least_squares(kLine, 6, line({0.1, 0.9, 2.1, 2.9, 4.1, 4.9}), {.least_scale = 0.14826});
  CHECK(fit.deviation(1) == Approx(0.14826 / std::sqrt(17.5)).epsilon(0.02));
}

TEST_CASE("What the points do not say, the prior does, and the fit knows it") {
  // Only a + b is seen (one x): a has a tight prior at 1, so b = 4 - 1.
  const std::vector<Unknown> unknowns = {{"a", 1, 1, 0.01}, {"b", 0, 0, 100}};
  const Residuals sum = [](std::span<const double> at, std::span<double> out) {
    for (double& r : out) r = at[0] + at[1] - 4;
  };
  const auto fit = fit_least_squares(unknowns, 3, sum);
  CHECK(fit.values[0] == Approx(1).epsilon(1e-3));
  CHECK(fit.values[1] == Approx(3).epsilon(1e-3));
  CHECK_FALSE(fit.identified(0));
  CHECK(fit.identified(1));
}

TEST_CASE("An unknown that nothing determines is named") {
  const Residuals sum = [](std::span<const double> at, std::span<double> out) {
    for (double& r : out) r = at[0] + at[1] - 4;
  };
  CHECK_THROWS_WITH(fit_least_squares(kLine, 3, sum), Catch::Contains("do not determine"));
}

TEST_CASE("No points and points that are not numbers are refused") {
  CHECK_THROWS_WITH(fit_least_squares(kLine, 0, line({})), Catch::Contains("no point"));
  CHECK_THROWS_WITH(fit_least_squares(kLine, 2, line({1, std::nan("")})),
                    Catch::Contains("not a number"));
}

TEST_CASE("Sigma points have the mean and the covariance of the fit") {
  LeastSquaresFit fit;
  fit.values = {1, -2, 0.5};
  fit.covariance = {4,    1, 0,    1, 2,
                    -0.5, 0, -0.5, 1};  // positive definite: 4, 7, 6 as leading minors
  const std::vector<std::vector<double>> points = sigma_points(fit);
  CHECK(points.size() == 8);  // 4 rows of the Hadamard matrix of the next power of 2, and opposites
  for (std::size_t k = 0; k < 3; ++k) {
    double mean = 0;
    for (const auto& point : points) mean += point[k] / 8;
    CHECK(mean == Approx(fit.values[k]));
    for (std::size_t l = 0; l < 3; ++l) {
      double product = 0;
      for (const auto& point : points)
        product += (point[k] - fit.values[k]) * (point[l] - fit.values[l]) / 8;
      CHECK(product == Approx(fit.covariance[3 * k + l]).margin(1e-12));
    }
  }
}
