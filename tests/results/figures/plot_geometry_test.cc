#include "results/figures/plot_geometry.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace gradwire::results;

namespace {

std::vector<std::string> labels(const std::vector<Tick>& list) {
  std::vector<std::string> result;
  for (const Tick& tick : list) result.push_back(tick.label);
  return result;
}

}  // namespace

TEST_CASE("an axis maps to pixels and back", "[plot]") {
  const AxisMap linear(Scale::kLinear, {0, 10}, 100, 300);
  CHECK(linear.pixel(2.5) == 150);  // 100 + 2.5 / 10 * 200
  CHECK(linear.value(150) == 2.5);
  const AxisMap down(Scale::kLinear, {0, 10}, 300, 100);
  CHECK(down.pixel(2.5) == 250);  // y axes point up
  const AxisMap log10(Scale::kLog10, {1, 1000}, 0, 300);
  CHECK(log10.pixel(10) == Approx(100));  // one of three decades
  CHECK(log10.value(200) == Approx(100));
  const AxisMap log2(Scale::kLog2, {4, 64}, 0, 400);
  CHECK(log2.pixel(16) == Approx(200));  // two of four doublings
  CHECK(std::isnan(log10.pixel(0)));
  CHECK(std::isnan(log10.pixel(-1)));
  CHECK(std::isnan(linear.pixel(std::nan(""))));
}

TEST_CASE("linear ticks are round and told apart", "[plot]") {
  CHECK(labels(ticks({0, 1}, Scale::kLinear, 5, Quantity::kPlain)) ==
        std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  // 0.03 s wide: shown in ms, the unit that fits the largest value.
  CHECK(labels(ticks({0, 0.03}, Scale::kLinear, 3, Quantity::kSeconds)) ==
        std::vector<std::string>{"0", "10", "20", "30"});
  CHECK(unit_of({0, 0.03}, Scale::kLinear, Quantity::kSeconds) == "ms");
  CHECK(unit_of({0, 3000}, Scale::kLinear, Quantity::kSeconds) == "s");
  CHECK(unit_of({0, 2.5e6}, Scale::kLinear, Quantity::kBytes) == "MB");
  CHECK(labels(ticks({0.5, 1}, Scale::kLinear, 5, Quantity::kShare)) ==
        std::vector<std::string>{"50", "60", "70", "80", "90", "100"});
  CHECK(unit_of({0.5, 1}, Scale::kLinear, Quantity::kShare) == "%");
  // Whole things have no half ticks.
  for (const Tick& tick : ticks({0, 3}, Scale::kLinear, 10, Quantity::kCount))
    CHECK(tick.value == std::round(tick.value));
  CHECK(ticks({1, 1}, Scale::kLinear, 5, Quantity::kPlain).empty());
}

TEST_CASE("logarithmic ticks carry their own unit", "[plot]") {
  CHECK(labels(ticks({4, 64}, Scale::kLog2, 8, Quantity::kCount)) ==
        std::vector<std::string>{"4", "8", "16", "32", "64"});
  CHECK(labels(ticks({1e-4, 1}, Scale::kLog10, 8, Quantity::kSeconds)) ==
        std::vector<std::string>{"100 \u00b5s", "1 ms", "10 ms", "100 ms", "1 s"});
  // 1e6 .. 1e12 at most four ticks: every second decade.
  CHECK(labels(ticks({1e6, 1e12}, Scale::kLog10, 4, Quantity::kBytes)) ==
        std::vector<std::string>{"1 MB", "100 MB", "10 GB", "1 TB"});
  // Less than two decades: 1, 2, 5.
  CHECK(labels(ticks({15, 120}, Scale::kLog10, 6, Quantity::kPlain)) ==
        std::vector<std::string>{"20", "50", "100"});
}

TEST_CASE("ranges are widened to round numbers", "[plot]") {
  const Interval wide = nice_range({0.13, 0.97}, Scale::kLinear);
  CHECK(wide.low <= 0.13);
  CHECK(wide.high >= 0.97);
  CHECK(wide.high - wide.low < 0.84 * 1.3);  // not much wider than the data
  CHECK(nice_range({}, Scale::kLinear).high == 1);
  CHECK(nice_range({5, 5}, Scale::kLinear).low < 5);
  CHECK(nice_range({5, 5}, Scale::kLog2).low == 2.5);
  CHECK(nice_range({}, Scale::kLog10).low > 0);
}

TEST_CASE("values are printed with unit and three digits", "[plot]") {
  CHECK(format_value(0.01234, Quantity::kSeconds) == "12.3 ms");
  CHECK(format_value(1234, Quantity::kSeconds) == "1234 s");
  CHECK(format_value(4.19e6, Quantity::kBytes) == "4.19 MB");
  CHECK(format_value(0.952, Quantity::kShare) == "95.2 %");
  CHECK(format_value(1, Quantity::kShare) == "100 %");
  CHECK(format_value(16, Quantity::kCount) == "16");
  CHECK(format_value(0, Quantity::kSeconds) == "0 s");
  CHECK(format_value(std::nan(""), Quantity::kSeconds) == "not a number");
}

TEST_CASE("decimation keeps every column's extremes", "[plot]") {
  constexpr int kPoints = 100'000;
  std::vector<double> x(kPoints), y(kPoints);
  std::mt19937 random(1);
  std::normal_distribution<double> noise;
  for (int i = 0; i < kPoints; ++i) {
    x[i] = i;
    y[i] = noise(random);
  }
  y[54'321] = 50;  // one peak among 100,000
  const AxisMap ax(Scale::kLinear, {0, kPoints}, 0, 700), ay(Scale::kLinear, {-60, 60}, 400, 0);
  const auto paths = decimate(x, y, ax, ay);
  REQUIRE(paths.size() == 1);
  CHECK(paths[0].size() <= 4 * 700);  // at most four a column
  double top = 1e9;
  for (const Pixel p : paths[0]) top = std::min(top, p.y);
  CHECK(top == Approx(ay.pixel(50)));
  // Negative control: taking every 100th point loses it.
  double sampled = 1e9;
  for (int i = 0; i < kPoints; i += 100) sampled = std::min(sampled, ay.pixel(y[i]));
  CHECK(sampled > ay.pixel(10));
  CHECK(std::is_sorted(paths[0].begin(), paths[0].end(),
                       [](Pixel a, Pixel b) { return std::floor(a.x) < std::floor(b.x); }));
}

TEST_CASE("few points are kept as they are, and gaps stay gaps", "[plot]") {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5};
  const std::vector<double> y = {0, 1, 2, std::nan(""), 4, 5};
  const AxisMap ax(Scale::kLinear, {0, 10}, 0, 100), ay(Scale::kLinear, {0, 10}, 100, 0);
  const auto paths = decimate(x, y, ax, ay);
  REQUIRE(paths.size() == 2);
  CHECK(paths[0].size() == 3);
  CHECK(paths[1].size() == 2);
  CHECK(paths[1][1].x == 50);
  // A curve that runs back is not decimated.
  const std::vector<double> back = {0, 0.01, 0.005, 0.02, 0.001, 0.03};
  const std::vector<double> up = {0, 1, 2, 3, 4, 5};
  CHECK(decimate(back, up, ax, ay)[0].size() == 6);
}

TEST_CASE("the nearest point within reach", "[plot]") {
  const std::vector<double> x = {1, 5, 9}, y = {1, 5, 9};
  const AxisMap ax(Scale::kLinear, {0, 10}, 0, 100), ay(Scale::kLinear, {0, 10}, 100, 0);
  CHECK(nearest_point(x, y, ax, ay, {52, 49}, 10) == 1u);  // (5,5) is at pixel (50,50)
  CHECK_FALSE(nearest_point(x, y, ax, ay, {30, 30}, 10));
}

TEST_CASE("the Pareto front", "[plot]") {
  // cost 1 gain 1; cost 2 gain 3; cost 3 gain 2 is beaten by (2, 3); cost 4 gain 4; NaN never.
  const std::vector<double> cost = {3, 1, 4, 2, std::nan("")}, gain = {2, 1, 4, 3, 9};
  CHECK(pareto_front(cost, gain) == std::vector<std::size_t>{1, 3, 2});
}
