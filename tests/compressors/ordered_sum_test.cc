#include "compressors/ordered_sum.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "codec_fixture.h"
#include "compressors/kernels/kernels.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

// The four steps of the header, with every intermediate kept in a vector.
double sum_by_levels(const std::vector<double>& terms) {
  std::vector<double> level;
  for (std::size_t begin = 0; begin < terms.size(); begin += 4096) {
    std::vector<double> partials(16, 0.0);
    for (std::size_t e = begin; e < std::min(begin + 4096, terms.size()); ++e)
      partials[(e - begin) % 16] += terms[e];
    for (std::size_t half = 8; half > 0; half /= 2)
      for (std::size_t j = 0; j < half; ++j) partials[j] = partials[j] + partials[j + half];
    level.push_back(partials[0]);
  }
  while (level.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? 0.0 : level[0];
}

}  // namespace

TEST_CASE("the ordered sum follows its definition to the last bit") {
  bool order_matters = false;
  for (const std::size_t n : {0u, 1u, 15u, 17u, 4096u, 4097u, 12288u, 12289u, 28671u, 40961u}) {
    const auto values = random_values(n);
    std::vector<double> terms(n);
    double plain = 0;
    for (std::size_t e = 0; e < n; ++e) plain += terms[e] = std::exp(20.0 * values[e]);
    const double sum = ordered_sum(n, [&](std::size_t e) { return terms[e]; });
    REQUIRE(sum == sum_by_levels(terms));
    REQUIRE(sum == Approx(plain));
    order_matters = order_matters || sum != plain;
  }
  CHECK(order_matters);  // otherwise the comparison above would say nothing
}

TEST_CASE("block moments are ordered sums of d and d^2") {
  for (const std::size_t n : {1u, 5u, 16u, 100u, 4095u, 4096u}) {
    const auto values = random_values(n);
    const double pivot = values[0];
    const auto moments = kernels::block_moments(values.data(), n, pivot);
    const auto d = [&](std::size_t e) { return double{values[e]} - pivot; };
    REQUIRE(moments.sum == ordered_sum(n, d));
    REQUIRE(moments.sum_squares == ordered_sum(n, [&](std::size_t e) { return d(e) * d(e); }));
  }
}
