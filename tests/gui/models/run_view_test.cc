#include "gui/models/run_view.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "gui/models/run_filter.h"
#include "gui/samples/sample_runs.h"
#include "results/runs/figure_origin.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

RunView view_of(std::vector<RunSummary> runs) {
  RunView view;
  view.set_runs(make_run_set(std::move(runs)));
  return view;
}

}  // namespace

TEST_CASE("sorting uses raw values and puts absent ones last in both directions", "[unit]") {
  auto runs = samples::sample_runs(4);
  runs[0].step_time_s = 0.9;  // "900 ms" sorts before "1.0 s" as a number, after it as text
  runs[1].step_time_s = 1.0;
  runs[2].step_time_s.reset();
  runs[3].step_time_s = NAN;
  RunView view = view_of(runs);
  view.sort(Column::kStepTime, false);
  CHECK(view.at(0).id == 1);
  CHECK(view.at(1).id == 2);
  view.sort(Column::kStepTime, true);
  CHECK(view.at(0).id == 2);
  CHECK(view.at(1).id == 1);
  CHECK(view.row_of(3) == 2);
}

TEST_CASE("free text needs every word, without regard to case", "[unit]") {
  RunView view = view_of(samples::sample_runs(144));
  view.set_text_filter("TOPK packet");
  REQUIRE(view.rows() > 0);
  for (int row = 0; row < view.rows(); ++row) {
    CHECK(view.at(row).header.method == "topk 1% ef");
    CHECK(view.at(row).header.executor == "packet");
  }
  view.set_text_filter("nothing-like-this");
  CHECK(view.rows() == 0);
  view.set_text_filter("");
  CHECK(view.rows() == 144);
}

TEST_CASE("typed expressions filter by value; wrong ones say why", "[unit]") {
  const RunFilter filter = parse_run_filter("traffic_ratio<0.1 and workers>=16");
  REQUIRE(filter.typed);
  REQUIRE(filter.error.isEmpty());
  RunView view = view_of(samples::sample_runs(144));
  view.set_predicate(filter.predicate);
  // Four of six methods have a ratio below 0.1, two of four worker counts are 16 or more:
  // 144 * 4/6 * 2/4 = 48.
  CHECK(view.rows() == 48);
  CHECK_FALSE(parse_run_filter("top k").typed);
  CHECK_FALSE(parse_run_filter("no_such_field<3").error.isEmpty());
  CHECK_FALSE(parse_run_filter("traffic_ratio<").error.isEmpty());
}

TEST_CASE("every number column's key is a field of filter expressions", "[unit]") {
  for (int c = 0; c < kColumns; ++c) {
    const Column column = column_at(c);
    INFO(info(column).key);
    const QString value = column == Column::kStatus ? "finished" : "1";
    CHECK(parse_run_filter(QString("%1=%2").arg(info(column).key, value)).error.isEmpty());
  }
}

TEST_CASE("every number column says where its figures come from", "[unit]") {
  for (int c = 0; c < kColumns; ++c) {
    const Column column = column_at(c);
    INFO(info(column).key);
    if (!is_number(column)) continue;
    REQUIRE(origin_of(info(column).key));
    const bool figure = origin_of(info(column).key) != Origin::kNoFigure;
    CHECK(origin_text(column).isEmpty() == !figure);
  }
  CHECK(origin_text(Column::kWorkers) == "given by the scenario");
  CHECK(origin_text(Column::kStepTime).contains("simulated"));
  CHECK_FALSE(origin_of("a_column_of_unknown_source"));  // the check can fail
}

TEST_CASE("pins and the baseline stand on top whatever the sort and filter", "[unit]") {
  RunView view = view_of(samples::sample_runs(100));
  view.sort(Column::kRun, false);
  CHECK(view.toggle_pin(50));
  view.set_baseline(70);
  view.set_text_filter("none");
  CHECK(view.at(0).id == 70);
  CHECK(view.at(1).id == 50);
  CHECK(view.at(2).id == 1);
  for (RunId id : {51, 52, 53, 54}) CHECK(view.toggle_pin(id));
  CHECK_FALSE(view.toggle_pin(55));
  CHECK(view.toggle_pin(50));
  CHECK_FALSE(view.pinned(50));
  // A refresh in which the baseline is gone forgets it.
  view.set_runs(make_run_set(samples::sample_runs(60)));
  CHECK(view.baseline() == nullptr);
}

TEST_CASE("only columns in which the shown runs differ", "[unit]") {
  auto runs = samples::sample_runs(24);
  RunView view = view_of(runs);
  view.set_text_filter("terngrad");
  const auto differs = view.differing_columns();
  CHECK_FALSE(differs[static_cast<int>(Column::kMethod)]);
  CHECK_FALSE(differs[static_cast<int>(Column::kTrafficRatio)]);
  CHECK(differs[static_cast<int>(Column::kWorkers)]);
  CHECK(differs[static_cast<int>(Column::kRun)]);
}

TEST_CASE("values are shown with units and copied in full", "[unit]") {
  RunSummary run = samples::sample_run(1);
  run.step_time_s = 0.0123456789012345;
  run.final_accuracy = 0.95149;
  run.traffic_ratio = 0.02;
  run.wire_bytes = 4.19e6;
  CHECK(shown_text(run, Column::kStepTime, {}) == "12.3 ms");
  CHECK(full_text(run, Column::kStepTime).toDouble() == 0.0123456789012345);
  CHECK(shown_text(run, Column::kAccuracy, {}) == "95.1 %");
  CHECK(shown_text(run, Column::kTrafficRatio, {}) == "2.00 %");
  CHECK(shown_text(run, Column::kWireBytes, {}) == "4.19 MB");
  // 4.19 MB are 33.52 Mbit.
  CHECK(shown_text(run, Column::kWireBytes, {true}) == "33.5 Mbit");
  run.final_loss.reset();
  CHECK(shown_text(run, Column::kLoss, {}) == "–");
  CHECK(full_text(run, Column::kLoss).isEmpty());
  run.header.seed = 18446744073709551615ull;  // more digits than a double holds
  CHECK(full_text(run, Column::kSeed) == "18446744073709551615");
}

TEST_CASE("deltas are relative, and in points for shares", "[unit]") {
  RunSummary base = samples::sample_run(1), run = base;
  base.step_time_s = 0.010;
  run.step_time_s = 0.0066;
  base.final_accuracy = 0.950;
  run.final_accuracy = 0.962;
  CHECK(delta_text(run, base, Column::kStepTime) == "−34 %");
  CHECK(delta_text(run, base, Column::kAccuracy) == "+1.2 pp");
  CHECK(delta_text(run, base, Column::kSeed).isEmpty());
  base.step_time_s.reset();
  CHECK(delta_text(run, base, Column::kStepTime).isEmpty());
}
