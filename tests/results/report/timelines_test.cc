#include "results/report/timelines.h"

#include <catch2/catch.hpp>
#include <regex>

#include "results/figures/svg.h"
#include "results/report/report.h"
#include "results/report/timeline_drawing.h"
#include "results/runs/place.h"
#include "tests/results/html_check.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

/// A finished run of `steps` steps of 1 s, whose workers each have `pieces` short computations and
/// transfers a step.
struct TimedRun {
  TimedRun(int workers, int steps, int pieces) : run(steps) {
    RunHeader header = sample_header();
    header.workers = workers;
    id = run.store->begin_run(header, steps);
    std::vector<TimelineSegment> segments;
    for (int step = 0; step < steps; ++step)
      for (int worker = 0; worker < workers; ++worker)
        for (int i = 0; i < pieces; ++i) {
          const double length = 1.0 / pieces, at = step + length * i;
          segments.push_back({step, worker, 1, "forward", at, at + length * 0.4, 0});
          segments.push_back(
              {step, worker, kTransferLane, "bucket", at + length * 0.3, at + length, 4096});
        }
    for (int step = 0; step < steps; ++step)
      segments.push_back({step, workers - 1, kCriticalLane, "bucket", step + 0.5, step + 1.0, 0});
    run.store->put_timeline(id, "simulated", segments);
    std::vector<StepRow> rows;
    for (int step = 0; step < steps; ++step) {
      rows.push_back(sample_step(step));
      rows.back().start_s = step;
      rows.back().end_s = step + 1;
    }
    run.store->append(id, rows, {});
    run.store->finish_run(
        id, RunStatus::kFinished, "", "", "",
        std::vector<MetricRow>{{-1, "step_time_s", 1, "s", Provenance::kSimulated}});
  }
  std::string page() const { return report_html(*run.store, std::vector{id}); }
  BegunRun run;
  RunId id = 0;
};

/// Anchors that a page has more than once.
std::vector<std::string> repeated_anchors(const std::string& html) {
  static const std::regex anchor(" id=\"([^\"]*)\"");
  std::set<std::string> seen;
  std::vector<std::string> twice;
  for (std::sregex_iterator i(html.begin(), html.end(), anchor), end; i != end; ++i)
    if (!seen.insert((*i)[1]).second) twice.push_back((*i)[1]);
  return twice;
}

}  // namespace

TEST_CASE("a report's timeline is the anchor of its place, and says what opens it") {
  const TimedRun run(4, 3, 5);
  const std::string html = run.page();
  CHECK(external_reference(html) == "");
  CHECK(html_problem(html) == "");
  // The step in the middle of three: from 1 s on, to the end of its last transfer.
  const std::string place = place_of(run.id, 1, 2);
  REQUIRE(place == "run:2@1s..2s");
  CHECK(count(html, "<figure class=\"wide\" id=\"" + place + "\">") == 1);
  CHECK(count(html, " id=\"run:2\"") == 1);
  CHECK_THAT(html, Contains("<code>gradwire gui " + place + "</code>"));
  CHECK_THAT(html, Contains("href=\"#" + place + "\""));
  for (const char* part : {"worker 0", "worker 3", "computes", "waits for the network",
                           "sends, receives", "critical path", "simulated (flow)"})
    CHECK_THAT(html, Contains(part));
  CHECK(repeated_anchors(html).empty());
  // Of each worker's second: 5 x 0.4 x 0.2 s = 400 ms of compute, 700 ms of transfers of which
  // 5 x 0.1 x 0.2 s = 100 ms hide: 600 ms exposed.
  CHECK(count(html, ">400 ms</td><td>0 s</td><td>600 ms</td><td>700 ms</td>") == 4);
}

TEST_CASE("a place that two parts of a page name is an anchor once") {
  // The one step is the whole run, which the table of where figures come from names as well.
  const TimedRun run(2, 1, 2);
  const std::string html = run.page();
  CHECK(count(html, "href=\"#run:2@0s..1s\"") == 2);
  CHECK(repeated_anchors(html).empty());
  CHECK(repeated_anchors("<p id=\"a\"></p><p id=\"a\"></p>") == std::vector<std::string>{"a"});
}

TEST_CASE("runs without a timeline have none in their report") {
  const BegunRun run(1);
  run.store->append(run.id, std::vector{sample_step(0)}, {});
  run.store->finish_run(run.id, RunStatus::kFinished, "", "", "", {});
  CHECK_THAT(report_html(*run.store, std::vector{run.id}), !Contains("Timelines"));
}

TEST_CASE("many ranks and many pieces make no large picture") {
  const TimedRun run(64, 1, 400);
  const std::string html = run.page();
  const std::size_t from = html.find("<h2>Timelines</h2>"), to = html.find("<h2>", from + 1);
  REQUIRE(from != std::string::npos);
  CHECK(to - from < 100'000);
  CHECK_THAT(html, Contains("mean of all") && Contains("64 workers"));
  // The critical path's rank is among those that are drawn.
  CHECK_THAT(html, Contains("worker 63") && !Contains("worker 62"));
  const auto window = middle_step(run.run.store->timeline(run.id), {});
  REQUIRE(window);
  // Of a round of 20 of 64 clients, the server is drawn, and the mean is of the 20.
  StepWindow round = *window;
  round.hosts.resize(20);
  round.hosts.push_back({64, round.hosts[0].compute, {}, {}, {}});
  const TimelineDrawing drawn = drawing_of(round, 64, 12, 600, 1060);
  REQUIRE(drawn.rows.size() == 12);
  CHECK(drawn.rows.back().worker == 64);
  SvgOptions options;
  const std::string svg = to_svg({}, options, [&](Canvas& canvas) { paint(drawn, 1060, canvas); });
  CHECK_THAT(svg, Contains("20 of 64") && Contains("server 0"));
  const auto rectangles = [&](std::size_t most_rows, std::size_t most_pieces) {
    const TimelineDrawing drawing = drawing_of(*window, 64, most_rows, most_pieces, 1060);
    std::size_t pieces = 0;
    for (const WorkerTimes& host : drawing.rows)
      pieces += host.compute.size() + host.exposed_codec.size() + host.exposed.size() +
                host.network.size();
    return pieces;
  };
  CHECK(rectangles(12, 600) <= 600);
  // Without bounds: 64 ranks of 400 computations, as many waits and transfers.
  CHECK(rectangles(64, 1'000'000) > 50'000);
}
