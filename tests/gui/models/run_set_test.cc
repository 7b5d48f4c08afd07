#include "gui/models/run_set.h"

#include <QElapsedTimer>
#include <catch2/catch.hpp>

#include "gui/models/run_filter.h"
#include "gui/models/run_view.h"
#include "gui/samples/sample_runs.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

RunSummary run_with(RunId id, const std::string& scenario) {
  RunSummary run;
  run.id = id;
  run.header.scenario_json = scenario;
  run.header.method = "none";
  return run;
}

RunView view_of(std::vector<RunSummary> runs) {
  RunView view;
  view.set_runs(make_run_set(std::move(runs)));
  return view;
}

Column column(const RunView& view, const char* pointer) {
  const auto found = view.columns().swept_at(pointer);
  INFO(pointer);
  REQUIRE(found);
  return *found;
}

int matching(RunView& view, const QString& text) {
  const RunFilter filter = parse_run_filter(text, view.columns());
  INFO(text.toStdString() << ": " << filter.error.toStdString());
  REQUIRE(filter.error.isEmpty());
  view.set_predicate(filter.predicate);
  return view.rows();
}

}  // namespace

TEST_CASE("fields that differ between scenarios are columns by themselves", "[unit]") {
  RunView view =
      view_of({run_with(1, R"({"name":"a","network":{"link":{"bandwidth":"1Gbps","delay":"50us"}},
                       "exchange":{"bucket":"4MB"},"cluster":{"workers":2}})"),
               run_with(2, R"({"name":"b","network":{"link":{"bandwidth":"100Mbps","delay":"50us"}},
                       "exchange":{"bucket":"25MB"},"cluster":{"workers":4}})"),
               run_with(3, R"({"name":"b","network":{"link":{"bandwidth":"10Gbps","delay":"50us"}},
                       "exchange":{"bucket":"25MB"},"cluster":{"workers":4},"seeds":[2]})")});
  const RunColumns& columns = view.columns();
  // Names, worker numbers (a column of their own) and what is alike are no swept fields.
  REQUIRE(columns.count() == kColumns + 2);
  const Column rate = column(view, "/network/link/bandwidth");
  CHECK(columns.title(rate) == "Bandwidth");
  CHECK(columns.quantity(rate) == Quantity::kRate);
  CHECK(columns.shown_text(view.at(0), rate, {}) == "10 Gbps");
  CHECK(columns.number(view.at(0), rate) == 1e10);
  CHECK_FALSE(columns.help(rate).isEmpty());
  // Sorted as rates, not as texts ("10Gbps" < "100Mbps" < "1Gbps").
  view.sort(rate, false);
  CHECK(view.at(0).id == 2);
  CHECK(view.at(1).id == 1);
  CHECK(view.at(2).id == 3);
  const Column bucket = column(view, "/exchange/bucket");
  CHECK(columns.shown_text(view.at(0), bucket, {}) == "25 MB");
  CHECK(columns.shown_text(view.at(0), bucket, {true}) == "200 Mbit");
  CHECK(view.differing_columns()[static_cast<std::size_t>(rate)]);
}

TEST_CASE("titles of swept columns tell fields of one name apart", "[unit]") {
  RunView view = view_of({run_with(1, R"({"network":{"link":{"bandwidth":"1Gbps"},
                       "server_link":{"bandwidth":"2Gbps"}}})"),
                          run_with(2, R"({"network":{"link":{"bandwidth":"3Gbps"},
                       "server_link":{"bandwidth":"4Gbps"}}})")});
  CHECK(view.columns().title(column(view, "/network/link/bandwidth")) == "Link bandwidth");
  CHECK(view.columns().title(column(view, "/network/server_link/bandwidth")) ==
        "Server link bandwidth");
}

TEST_CASE("a field that some runs merely lack is not taken for a varied one", "[unit]") {
  const RunView view = view_of({run_with(1, R"({"method":{"name":"topk","ratio":0.01}})"),
                                run_with(2, R"({"method":{"name":"none"}})"),
                                run_with(3, R"({"method":{"name":"dgc","ratio":0.01,"a":1}})"),
                                run_with(4, R"({"method":{"name":"dgc","ratio":0.01,"a":2}})")});
  CHECK_FALSE(view.columns().swept(column(view, "/method/ratio"))->varied);
  CHECK(view.columns().swept(column(view, "/method/a"))->varied);
  // Varied ones stand first.
  CHECK(static_cast<int>(column(view, "/method/a")) == kColumns);
}

TEST_CASE("filters name columns as they are shown", "[unit]") {
  RunView view = view_of(samples::sample_runs(144));
  // A third of the runs at each of three rates; two of four numbers of workers.
  CHECK(matching(view, "bandwidth=1Gbps") == 48);
  CHECK(matching(view, "Bandwidth = 1000Mbps") == 48);
  CHECK(matching(view, "bandwidth>=1Gbps and Workers >= 16") == 48);
  CHECK(matching(view, "/network/link/bandwidth<1Gbps") == 48);
  CHECK(matching(view, "bandwidth_bps<1Gbps") == 48);
  const int fast = matching(view, "step_time_s<20ms");
  CHECK(fast > 0);
  CHECK(matching(view, "Step time<20ms") == fast);
  CHECK(matching(view, "step_time<20ms") == fast);
  // What all runs have in common can be asked for as well.
  CHECK(matching(view, "/network/link/delay=50us") == 144);
  CHECK(matching(view, "delay>1ms") == 0);
  const RunFilter wrong = parse_run_filter("Bandwith<1Gbps", view.columns());
  CHECK(wrong.error.contains("did you mean \"bandwidth\""));
  const RunFilter words = parse_run_filter("Step tme<1s", view.columns());
  CHECK(words.error.contains("did you mean \"step_time"));
}

TEST_CASE("a filter that leaves nothing says which values would match", "[unit]") {
  const auto runs = samples::sample_runs(144);
  RunView view = view_of(runs);
  const auto hint = [&](const char* text) {
    return filter_hint(parse_run_filter(text, view.columns()), view.all());
  };
  CHECK(hint("method=terngrad").isEmpty());
  CHECK(hint("method=terngrd and workers=4").contains("Did you mean \"terngrad\"?"));
  CHECK(hint("bandwidth=2Gbps").contains("100Mbps, 10Gbps, 1Gbps"));
  CHECK(hint("workers>1000").contains("its values are"));
  CHECK(hint("workers=4 and workers=8").contains("none meets all"));
}

TEST_CASE("reading no scenario while filtering keeps ten thousand runs fast", "[unit]") {
  // Each run has a scenario of its own: the worst case for whoever reads them anew.
  auto runs = samples::sample_runs(10000);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string& json = runs[i].header.scenario_json;
    json.insert(json.size() - 1, R"(,"seeds":[)" + std::to_string(i) + "]");
  }
  RunView view = view_of(std::move(runs));
  QElapsedTimer timer;
  timer.start();
  const RunFilter filter = parse_run_filter("/network/link/bandwidth<1Gbps", view.columns());
  view.set_predicate(filter.predicate);
  CHECK(view.rows() > 3000);
  view.sort(column(view, "/network/link/bandwidth"), true);
  // 100 ms where nothing else runs; reading ten thousand scenarios takes about half a second.
  CHECK(timer.elapsed() < 250);
}
