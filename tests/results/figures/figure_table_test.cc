#include "results/figures/figure_table.h"

#include <catch2/catch.hpp>

using namespace gradwire::results;
using Rows = std::vector<std::vector<std::string>>;

TEST_CASE("bars are rows of their categories, a column a series") {
  Figure figure;
  figure.horizontal_bars = true;
  figure.x = {"time of a step", Quantity::kSeconds};
  figure.y.categories = {"none", "fp16"};
  figure.series = {{SeriesKind::kBars, "compute", {0, 1}, {0.5, 0.25}, {}, {}, "step", {}},
                   {SeriesKind::kBars, "idle", {1}, {0.002}, {}, {}, "step", {}}};
  CHECK(figure_table(figure, 5).rows ==
        Rows{{"", "compute", "idle"}, {"none", "500 ms", "-"}, {"fp16", "250 ms", "2.00 ms"}});
}

TEST_CASE("curves are rows of points, thinned to their ends and some between") {
  Figure figure;
  figure.x = {"time", Quantity::kSeconds};
  figure.y = {"accuracy", Quantity::kShare};
  Series band{SeriesKind::kBand, "", {}, {}, {}, {}, "", {}};
  Series line{SeriesKind::kLine, "none", {}, {}, {}, {}, "", {}};
  for (int i = 0; i <= 100; ++i) {
    for (Series* series : {&band, &line}) series->x.push_back(i);
    line.y.push_back(0.005 * i);
    band.low.push_back(0.005 * i - 0.01);
    band.high.push_back(0.005 * i + 0.01);
  }
  figure.series = {band, line};
  const FigureTable table = figure_table(figure, 3);
  CHECK(table.thinned);
  CHECK(table.rows == Rows{{"series", "time", "accuracy", "spread"},
                           {"none", "0 s", "0 %", "-1.00 % to 1.00 %"},
                           {"none", "50.0 s", "25.0 %", "24.0 % to 26.0 %"},
                           {"none", "100 s", "50.0 %", "49.0 % to 51.0 %"}});
  figure.series = {line};
  const FigureTable whole = figure_table(figure, 1000);
  CHECK_FALSE(whole.thinned);
  CHECK(whole.rows.size() == 102);
  CHECK(whole.rows[0].size() == 3);  // no spread, no column for it
}
