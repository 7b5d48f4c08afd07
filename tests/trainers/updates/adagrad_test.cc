#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainers/updates/support.h"

namespace gradwire::trainers {
namespace {

using Values = std::vector<float>;

TEST_CASE("both Adagrad rules agree at the first step from 0") {
  // delta 0.1, rate 0.1, l1 0.5, g = 0.7: H = 0.1 + 0.7 = 0.8; u = -0.0875, of which the threshold
  // 0.5 x 0.125 = 0.0625 leaves -0.025. Averaging: -(0.1 x 1 / 0.8) (0.7 - 0.5) = -0.025.
  const Layout layout = layout_of({{5}});
  const Values g = {0.7f, 0, 0.7f, -0.7f, 0};
  for (const char* name : {"adagrad-cmd", "adagrad-rda"}) {
    INFO(name);
    Update rule({name, {{"delta", "0.1"}, {"l1", "0.5"}}}, layout);
    Values w(5, 0.0f);
    rule.step(0.1, g, w);
    CHECK(w[0] == Approx(-0.025));
    CHECK(w[1] == 0);
    CHECK(w[2] == Approx(-0.025));
    CHECK(w[3] == Approx(0.025));
    CHECK(w[4] == 0);
  }
}

TEST_CASE("mirror descent without a penalty is Adagrad") {
  // G = 4, then 4 + 1 = 5: w = 1 - 0.5 x 2 / (2 + d) - 0.5 x (-1) / (sqrt(5) + d).
  const Layout layout = layout_of({{1}});
  Update rule({"adagrad-cmd", {{"delta", "0.001"}, {"l1", "0"}}}, layout);
  Values w{1}, g{2};
  rule.step(0.5, g, w);
  g = {-1};
  rule.step(0.5, g, w);
  CHECK(w[0] == Approx(1 - 0.5 * 2 / 2.001 + 0.5 / (std::sqrt(5.0) + 0.001)));
}

TEST_CASE("a weight by dual averaging is 0 just where the mean gradient is within the penalty") {
  const Layout layout = layout_of({{64}});
  Update rule({"adagrad-rda", {{"l1", "0.25"}}}, layout);
  Values w(64, 3.0f), sum(64);
  for (int step = 1; step <= 20; ++step) {
    const Values g = some_values(64, 40 + static_cast<std::uint32_t>(step));
    for (std::size_t e = 0; e < g.size(); ++e) sum[e] += g[e];
    rule.step(0.1, g, w);
    for (std::size_t e = 0; e < w.size(); ++e) {
      const float mean = sum[e] / static_cast<float>(step);
      CHECK((w[e] == 0) == (std::fabs(mean) <= 0.25f));
      if (w[e] != 0) CHECK((w[e] < 0) == (mean > 0));
    }
  }
}

TEST_CASE("an element that never has a gradient stays, or is 0 by averaging") {
  const Layout layout = layout_of({{2}});
  Update descent({"adagrad-cmd", {{"l1", "0"}}}, layout);
  Update averaging({"adagrad-rda", {{"l1", "0"}}}, layout);
  Values w{1, 1}, v{1, 1};
  const Values g{0, 1};
  descent.step(0.1, g, w);
  averaging.step(0.1, g, v);
  CHECK(w[0] == 1);
  CHECK(v[0] == 0);
}

}  // namespace
}  // namespace gradwire::trainers
