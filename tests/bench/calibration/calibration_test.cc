#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "bench/calibration/calibration.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

const GridPoint kPlain{10e6, 20e-3, 0, 1e5, 1, false, "cubic"};

Reach linux_reach() {
  return {"linux", 400e6, 4e-3, 200e3, 20};
}

CalibrateOptions options_of(int points) {
  CalibrateOptions options;
  options.points = points;
  return options;
}

}  // namespace

TEST_CASE("Every level of every factor of the grid appears equally often") {
  // 168 points: 28 of each of 6 rates, 42 of each of 4 losses, 56 of each of 3 controls.
  const auto grid = calibration_grid(1, 168);
  std::map<double, int> rates, losses;
  std::map<std::string, int> controls;
  for (const GridPoint& point : grid) {
    ++rates[point.rate];
    ++losses[point.loss];
    ++controls[point.control];
  }
  CHECK(rates.size() == 6);
  for (const auto& [rate, count] : rates) CHECK(count == 28);
  CHECK(losses.size() == 4);
  for (const auto& [loss, count] : losses) CHECK(count == 42);
  for (const auto& [control, count] : controls) CHECK(count == 56);
  CHECK(name_of(calibration_grid(1, 168)[7]) == name_of(grid[7]));
  CHECK(name_of({10e6, 50e-3, 0.01, 1e6, 4, true, "reno"}) ==
        "10 Mbps, 50 ms, 1 % loss, 1 MB, 4 flows, warm, reno");
  CHECK(name_of({1e9, 50e-6, 0.001, 1e3, 1, false, "cubic"}) ==
        "1 Gbps, 50 us, 0.1 % loss, 1 kB, 1 flow, cold, cubic");
  bool differs = false;
  const auto other = calibration_grid(2, 168);
  for (std::size_t i = 0; i < grid.size(); ++i)
    differs = differs || name_of(other[i]) != name_of(grid[i]);
  CHECK(differs);
}

TEST_CASE("What a reference cannot hold or afford is extrapolated, with the reason") {
  CHECK(extrapolated_because(kPlain, linux_reach()).empty());
  const auto with = [](auto change) {
    GridPoint point = kPlain;
    change(point);
    return extrapolated_because(point, linux_reach());
  };
  CHECK(with([](GridPoint& p) { p.rate = 1e9; }) == "the links do not hold that rate");
  CHECK(with([](GridPoint& p) { p.round_trip = 1e-3; }) == "the links do not hold that delay");
  CHECK(with([](GridPoint& p) { p.control = "bbr"; }) == "flow does not model Linux's bbr");
  // 1 GB in 690,608 segments.
  CHECK(with([](GridPoint& p) { p.bytes = 1e9; }) == "too many packets");
  // 100 MB at 10 Mbps: 85 s.
  CHECK(with([](GridPoint& p) { p.bytes = 1e8; }) == "too long");
}

TEST_CASE("Measurements are the same after writing and reading, and only for their grid") {
  const CalibrateOptions options = options_of(4);
  const auto grid = calibration_grid(options.seed, options.points);
  const std::vector<Measurement> list = {{grid[0], {0.5, 0.25}, {}}, {grid[1], {}, "too long"}};
  const std::string text = measurements_json(list, options);
  const auto again = parse_measurements(text, options);
  REQUIRE(again.size() == 2);
  CHECK(again[0].times == list[0].times);
  CHECK(again[1].extrapolated == "too long");
  CHECK(name_of(again[1].point) == name_of(grid[1]));
  CHECK(parse_measurements(text, options_of(5)).empty());
  CHECK(parse_measurements("{", options).empty());
  CalibrateOptions other = options;
  other.reference = "linux";
  CHECK(parse_measurements(text, other).empty());
}

namespace {

/// Transfers that HyStart's trains decide: Mbps and ms.
std::vector<GridPoint> train_points() {
  std::vector<GridPoint> points;
  for (const auto& [rate, round_trip] : std::vector<std::pair<double, double>>{
           {30, 40}, {32, 40}, {22, 60}, {24, 60}, {26, 60}, {18, 80}, {20, 80}, {22, 80}})
    points.push_back({rate * 1e6, round_trip * 1e-3, 0, 1e6, 1, false, "cubic"});
  return points;
}

sim::TcpConstants fit_quietly(const std::vector<Measurement>& measured) {
  return fit_constants(measured, {}, fitted_fields("packet"), {}, [](const std::string&) {});
}

}  // namespace

TEST_CASE("The fit finds the constant that made the measurements") {
  // flow itself is the reference here, with HyStart's trains half as long as it starts with.
  sim::TcpConstants truth;
  truth.train_share = 0.5;
  std::vector<Measurement> measured;
  for (const GridPoint& point : train_points())
    measured.push_back({point, {flow_mean(point, truth)}, {}});
  CHECK(robust_error(measured, truth) == 0);
  REQUIRE(robust_error(measured, {}) > 0.02);
  const sim::TcpConstants fitted = fit_quietly(measured);
  CHECK(robust_error(measured, fitted) < 0.01);
  CHECK(fitted.train_share == Approx(0.5));
}

TEST_CASE("A gain at one point of many is no finding") {
  // As above, but one of the eight points alone: the mean gain is its standard error.
  sim::TcpConstants other;
  other.train_share = 0.5;
  std::vector<Measurement> measured;
  for (const GridPoint& point : train_points())
    measured.push_back(
        {point, {flow_mean(point, measured.empty() ? other : sim::TcpConstants{})}, {}});
  REQUIRE(robust_error(measured, {}) > 0.005);
  CHECK(fit_quietly(measured) == sim::TcpConstants{});
}

TEST_CASE("A fit that is stopped keeps what it has") {
  const std::vector<Measurement> measured = {{kPlain, {0.5}, {}}};
  const sim::TcpConstants start;
  const auto fitted = fit_constants(
      measured, start, fitted_fields("packet"), [] { return true; }, [](const std::string&) {});
  CHECK(fitted.train_share == start.train_share);
}

TEST_CASE("The report names regimes, worst cases and what is extrapolated") {
  CalibrationResult result;
  result.calibration = sim::shipped_calibration("packet");
  result.errors = {{"a case", "local, one flow, clean", 0.1, 0.3, 0.2},
                   {"another", "local, one flow, clean", 0.1, -0.1, -0.1}};
  result.extrapolated = {{kPlain, {}, "too long"}};
  const std::string text = calibration_markdown(result, {});
  // Median of 20 and 10 %: 15 %; of 30 and 10 %: 20 %.
  CHECK(text.find("| local, one flow, clean | 2 | 15.0 % | 19.0 % | 20.0 % | 20.0 % |") !=
        std::string::npos);
  CHECK(text.find("| a case | 100.00 ms | +20.0 % |") != std::string::npos);
  CHECK(text.find("1 points: too long") != std::string::npos);
}

TEST_CASE("A grid that is stopped says that it is not complete") {
  CalibrateOptions options = options_of(3);
  options.stopped = [] { return true; };
  bool complete = true;
  const auto list = measure_grid(
      options, linux_reach(), [](const std::string&) {}, complete);
  CHECK(list.empty());
  CHECK_FALSE(complete);
}
