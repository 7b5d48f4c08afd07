#include "results/statistics/student_t.h"

#include <catch2/catch.hpp>
#include <cmath>

using gradwire::results::student_quantile;

TEST_CASE("Student's t: the tables' values") {
  // One degree is Cauchy's: tan(pi (p - 1/2)); two: (2p - 1) sqrt(2 / (1 - (2p - 1)^2)).
  CHECK(student_quantile(0.95, 1) == Approx(std::tan(0.45 * M_PI)));
  CHECK(student_quantile(0.95, 2) == Approx(0.9 * std::sqrt(2 / 0.19)));
  // From any table, two-sided 90 % and 95 %.
  const struct {
    int freedom;
    double t90, t95;
  } table[] = {{3, 2.353, 3.182},  {4, 2.132, 2.776},  {10, 1.812, 2.228}, {11, 1.796, 2.201},
               {20, 1.725, 2.086}, {21, 1.721, 2.080}, {60, 1.671, 2.000}, {1000, 1.646, 1.962}};
  for (const auto& row : table) {
    INFO(row.freedom);
    CHECK(std::abs(student_quantile(0.95, row.freedom) - row.t90) < 6e-4);
    CHECK(std::abs(student_quantile(0.975, row.freedom) - row.t95) < 6e-4);
  }
  CHECK(student_quantile(0.05, 7) == Approx(-student_quantile(0.95, 7)));
}

TEST_CASE("Student's t falls with every degree of freedom, towards a normal's") {
  // Steps of a rounded table would leave an interval too narrow at their lower ends.
  for (int freedom = 1; freedom < 200; ++freedom)
    CHECK(student_quantile(0.975, freedom) > student_quantile(0.975, freedom + 1));
  CHECK(student_quantile(0.975, 100000) == Approx(1.959964).epsilon(1e-4));
}
