#include "results/reproductions/terngrad_chart/chart_report.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

Chart published() {
  const std::string file = scenarios::share_folder() + "/published/terngrad-chart.csv";
  return read_chart(read_file(file), file);
}

const Constant& constant(const ChartFit& fit, const std::string& name) {
  for (const Constant& candidate : fit.constants)
    if (candidate.name == name) return candidate;
  FAIL(name);
  return fit.constants.front();
}

/// T = 0.1 s alone, b / B = 0.4 s in fp32 and 0.05 s compressed, b / C a hundredth of that in a
/// ring inside a node of 4, 1 ms a hop between nodes, 32 samples a GPU.
std::string chart_of_plateau() {
  std::string csv = "model,method,gpus,images_per_second\n";
  for (const bool compressed : {false, true})
    for (int gpus = 1; gpus <= 256; gpus *= 2) {
      const double doublings = std::log2(gpus / 4.0);
      const int inside = std::min(gpus, 4);
      const double sent = compressed ? 0.05 : 0.4;
      double time = 0.1 + 0.01 * sent * 2 * (inside - 1) / inside;
      if (gpus > 4) time += 0.001 * (gpus / 4.0 - 1) + std::min(doublings, 2.0) * sent;
      csv += std::string("net,") + (compressed ? "two bits" : "dense") + "," +
             std::to_string(gpus) + "," + std::to_string(gpus * 32 / time) + "\n";
    }
  return csv;
}

}  // namespace

TEST_CASE("The published chart: two models redraw it, the tree cannot") {
  const auto reproduction = reproduce_chart(published(), {}, true);
  REQUIRE(reproduction.chart.bars.size() == 60);
  int controls = 0;
  for (const ReproductionRow& row : reproduction.rows) {
    INFO(row.name << " " << row.value);
    CHECK(row.holds() == true);
    controls += row.negative_control;
  }
  CHECK(controls == 4);
  CHECK(all_hold(reproduction.rows));
  CHECK(reproduction.fits[0].worst_error > 0.5);  // seven times |g| / B at 128 nodes
  // VGG-A FP32 at 1, 2, 8, 16, 32 GPUs (95, 167, 49, 53, 125) and TernGrad at 1, 2 (89, 174);
  // GoogLeNet at 1 (174, 174).
  CHECK(coarse_bars(reproduction.chart, {}).size() == 9);
  CHECK(coarse_bars_in_words(reproduction).find("VGG-A FP32 at 1, 2, 8, 16, 32 GPUs") !=
        std::string::npos);
}

TEST_CASE("Constants of the published chart are the physical ones") {
  const ChartFit fit = fit_chart(published(), ChartModel::kTernGradPlateau, {});
  // 0.9 Gbps of 1 are 112.5 MB/s; AlexNet's |g| was half of 61 M parameters in fp32.
  CHECK(constant(fit, "effective bandwidth between nodes").value == Approx(115e6).epsilon(0.06));
  CHECK(constant(fit, "AlexNet: gradients").value == Approx(125e6).epsilon(0.06));
  CHECK(constant(fit, "AlexNet: ratio credited to TernGrad").value == Approx(8.5).epsilon(0.1));
  CHECK_FALSE(constant(fit, "VGG-A: gradients").identified);  // the file's, by a tight prior
  CHECK(constant(fit, "VGG-A: a GPU alone").identified);
}

TEST_CASE("A chart of another cluster, without batch and sizes, is redrawn as well") {
  const auto reproduction =
      reproduce_chart(read_chart(chart_of_plateau(), "plateau.csv"), {}, false);
  CHECK(reproduction.rows.size() == 12);
  CHECK_FALSE(reproduction.rows[0].holds());  // here the tree may be right
  CHECK(all_hold(reproduction.rows));
  const ChartFit& plateau = reproduction.fits[1];
  CHECK(plateau.worst_error < 0.01);
  CHECK(constant(plateau, "net: ratio credited to two bits").value == Approx(8).epsilon(0.03));
}

TEST_CASE("A tree's chart is the tree's, and the plateau fails on it") {
  std::string csv = "model,method,gpus,images_per_second\n";
  for (const double once : {0.4, 0.05})
    for (int gpus = 1; gpus <= 512; gpus *= 2) {
      const double time = 0.1 + (gpus > 4 ? std::log2(gpus / 4.0) * once : 0);
      csv += once > 0.1 ? "net,dense," : "net,two bits,";
      csv += std::to_string(gpus) + "," + std::to_string(gpus * 32 / time) + "\n";
    }
  const Chart chart = read_chart(csv, "tree.csv");
  CHECK(fit_chart(chart, ChartModel::kTernGradTree, {}).worst_error < 0.02);
  CHECK(fit_chart(chart, ChartModel::kTernGradPlateau, {}).worst_error > 0.1);
}

TEST_CASE("Bad charts are refused with file, line and column") {
  const std::string header = "model,method,gpus,images_per_second\n";
  const auto reading = [&](const std::string& rows) { return read_chart(header + rows, "c.csv"); };
  CHECK_THROWS_WITH(reading("a,b,1.5,3\n"), Catch::Contains("c.csv:2: gpus"));
  CHECK_THROWS_WITH(reading("a,b,1,0\n"), Catch::Contains("not above 0"));
  CHECK_THROWS_WITH(reading(",b,1,3\n"), Catch::Contains("c.csv:2: model"));
  CHECK_THROWS_WITH(reading("a,b,1,3\na,b,1,4\n"), Catch::Contains("another value"));
  CHECK(reading("a,b,1,3\na,b,1,3\n").warnings.size() == 1);
  CHECK_THROWS_WITH(read_chart("model,method,gpu,images_per_second\na,b,1,2\n", "c.csv"),
                    Catch::Contains("did you mean \"gpus\"?"));
}

TEST_CASE("The report draws and lists every bar") {
  const auto reproduction = reproduce_chart(published(), {}, true);
  const std::string page = chart_report_html(reproduction);
  CHECK(page.find("<svg") != std::string::npos);
  CHECK(page.find("http://") == page.find("http://www.w3.org"));
  CHECK(page.size() < 1'000'000);
  const std::string csv = chart_report_csv(reproduction);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 61);
}
