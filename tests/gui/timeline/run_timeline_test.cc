#include "gui/timeline/run_timeline.h"

#include <catch2/catch.hpp>

#include "gui/timeline/row_order.h"
#include "gui/timeline/timeline_area.h"
#include "gui/timeline/timeline_path.h"
#include "gui/timeline/timeline_search.h"
#include "sim/graph/step_graph.h"

using namespace gradwire::gui;
using gradwire::results::LinkSeries;
using gradwire::results::TimelineSegment;

namespace {

constexpr auto kCompute = static_cast<std::uint8_t>(gradwire::sim::Lane::kCompute);
constexpr auto kCodec = static_cast<std::uint8_t>(gradwire::sim::Lane::kCodec);
constexpr std::uint8_t kNetwork = 255;

/// One step of two workers, seconds; worker 1 is slow, and the collective waits for it:
///   worker 0: backward 0-2, encode 2-3, all-reduce 3-9 (ready at 3), decode 9-10, update 11-12
///   worker 1: backward 0-5, encode 5-6, all-reduce 6-9 (ready at 6), decode 9-10
std::vector<TimelineSegment> straggler() {
  return {{0, 0, kCompute, "backward b0", 0, 2, 0},    {0, 0, kCodec, "encode b0", 2, 3, 0},
          {0, 0, kNetwork, "all-reduce b0", 3, 9, 40}, {0, 0, kCodec, "decode b0", 9, 10, 0},
          {0, 0, kCompute, "update", 11, 12, 0},       {0, 1, kCompute, "backward b0", 0, 5, 0},
          {0, 1, kCodec, "encode b0", 5, 6, 0},        {0, 1, kNetwork, "all-reduce b0", 6, 9, 40},
          {0, 1, kCodec, "decode b0", 9, 10, 0}};
}

TimelinePtr timeline_of(std::vector<TimelineSegment> segments, int workers = 2,
                        std::vector<TimelineSegment> path = {},
                        std::vector<LinkSeries> links = {}) {
  RunTimeline read;
  read.run = 7;
  read.workers = workers;
  read.segments = std::move(segments);
  read.path = std::move(path);
  read.links = std::move(links);
  return make_timeline(std::move(read));
}

QStringList labels_of(const RunTimeline& timeline, const std::vector<std::uint32_t>& segments) {
  QStringList labels;
  for (const auto i : segments) {
    labels << QString("%1 %2")
                  .arg(timeline.segments[i].worker)
                  .arg(QString::fromStdString(timeline.segments[i].label));
  }
  return labels;
}

std::uint32_t find(const RunTimeline& timeline, int worker, const std::string& label) {
  for (std::uint32_t i = 0; i < timeline.segments.size(); ++i) {
    const TimelineSegment& segment = timeline.segments[i];
    if (segment.worker == worker && segment.label == label) return i;
  }
  FAIL("no segment " << label);
  return 0;
}

}  // namespace

TEST_CASE("waits are what neither computes nor encodes, and say whether the network was busy",
          "[unit]") {
  const auto waits = waits_of(straggler(), 2);
  // Worker 0: work covers 0-3, 9-10, 11-12; its collective 3-9: six seconds exposed, 10-11 idle.
  // Worker 1: work covers 0-6 and 9-10; three seconds exposed.
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].label == "waits for the network");
  CHECK(waits[0].start_s == 3);
  CHECK(waits[0].end_s == 9);
  CHECK(waits[1].label == "idle");
  CHECK(waits[1].start_s == 10);
  CHECK(waits[1].end_s == 11);
  CHECK(waits[2].worker == 1);
  CHECK(waits[2].end_s - waits[2].start_s == 3);
  // Hosts beyond the workers are servers: theirs are no waits. Work without a gap has none.
  CHECK(waits_of(straggler(), 1).size() == 2);
  CHECK(waits_of({{0, 0, kCompute, "a", 0, 1, 0}, {0, 0, kCodec, "b", 1, 2, 0}}, 1).empty());
  const auto timeline = timeline_of(straggler());
  CHECK(timeline->stored == 9);
  CHECK(timeline->segments.size() == 12);
  CHECK(timeline->rows.phases[static_cast<std::size_t>(Phase::kWait)]);
  // They stand in the row of the computation that they wait to do.
  CHECK(timeline->rows.rows[0].segments.size() == 4);
}

TEST_CASE("what a wait waited for is the straggler's work", "[unit]") {
  const auto timeline = timeline_of(straggler());
  const auto wait = static_cast<std::uint32_t>(timeline->stored);
  REQUIRE(timeline->segments[wait].label == "waits for the network");
  const CriticalChain chain = chain_to(*timeline, wait);
  CHECK(labels_of(*timeline, chain.segments) ==
        QStringList{"1 backward b0", "1 encode b0", "0 all-reduce b0"});
  // 5 s of backward and 1 s of encoding at worker 1, then 3 s on the network: nothing else.
  CHECK(chain.share_s == std::vector<double>{5, 1, 3});
  CHECK(chain.pause_s == 0);
  CHECK(chain.known == 0);
  // Of worker 0's own encoding: its own backward pass.
  CHECK(labels_of(*timeline, chain_to(*timeline, find(*timeline, 0, "encode b0")).segments) ==
        QStringList{"0 backward b0", "0 encode b0"});
  // To the end: the second between decode and update is a pause.
  const CriticalChain end = chain_to_end(*timeline);
  CHECK(labels_of(*timeline, end.segments).last() == "0 update");
  CHECK(end.pause_s == 1);
  CHECK(chain_text(*timeline, end).contains("pauses 8 %"));
  CHECK(chain_text(*timeline, chain_to(*timeline, wait)).contains("transfer 33 %"));
}

TEST_CASE("without the straggler the path stays at home", "[unit]") {
  // The negative control: worker 1 as fast as worker 0, and the collective done by 6.
  auto segments = straggler();
  segments[2].end_s = segments[7].end_s = 6;
  segments[5].end_s = segments[6].start_s = 1;
  segments[6].end_s = segments[7].start_s = 2;
  const auto timeline = timeline_of(segments);
  const auto wait = static_cast<std::uint32_t>(timeline->stored);
  CHECK(labels_of(*timeline, chain_to(*timeline, wait).segments) ==
        QStringList{"0 backward b0", "0 encode b0", "0 all-reduce b0"});
}

TEST_CASE("a transfer waits for its two hosts, not for others of its name", "[unit]") {
  // Two pushes to server 2 (host 2 of 2 workers), each at both of its hosts, bytes at the source.
  const auto timeline = timeline_of({{0, 0, kCompute, "backward", 0, 1, 0},
                                     {0, 1, kCompute, "backward", 0, 2, 0},
                                     {0, 0, kNetwork, "push", 1, 5, 10},
                                     {0, 2, kNetwork, "push", 1, 5, 0},
                                     {0, 1, kNetwork, "push", 2, 4, 10},
                                     {0, 2, kNetwork, "push", 2, 4, 0},
                                     {0, 2, kCodec, "aggregate", 5, 6, 0}});
  const CriticalChain chain = chain_to(*timeline, find(*timeline, 2, "aggregate"));
  CHECK(labels_of(*timeline, chain.segments) == QStringList{"0 backward", "2 push", "2 aggregate"});
  CHECK(host_text(2, 2) == "server 0");
}

TEST_CASE("where it reaches the run's own critical path, the rest is that one", "[unit]") {
  // The run says (what times alone cannot) that worker 1's encoding waited for worker 0's.
  const std::vector<TimelineSegment> path = {{0, 0, 254, "backward b0", 0, 2, 0},
                                             {0, 0, 254, "encode b0", 2, 3, 0},
                                             {0, 1, 254, "encode b0", 5, 6, 0}};
  const auto timeline = timeline_of(straggler(), 2, path);
  const CriticalChain chain = chain_to(*timeline, find(*timeline, 1, "decode b0"));
  CHECK(labels_of(*timeline, chain.segments) == QStringList{"0 backward b0", "0 encode b0",
                                                            "1 encode b0", "1 all-reduce b0",
                                                            "1 decode b0"});
  CHECK(chain.known == 3);
  CHECK(chain_text(*timeline, chain).contains("the last 2 from their times"));
}

TEST_CASE("statistics of a range count what lies inside it", "[unit]") {
  const LinkSeries busy{0, "worker0 -> switch", 160, {{0, 10, 100}}};
  const LinkSeries silent{1, "switch -> worker0", 160, {{0, 10, 0}}};
  const auto timeline = timeline_of(straggler(), 2, {}, {busy, silent});
  CHECK(timeline->links.size() == 1);
  // From 4 to 8: backward 4-5 of worker 1 (of a 5 s segment), encode 5-6, transfers 4-8 and 6-8.
  const AreaStatistics area = area_statistics(*timeline, 4, 8);
  REQUIRE(area.phases.size() == 4);
  CHECK(area.phases[0].phase == Phase::kBackward);
  CHECK(area.phases[0].inside_s == 1);
  CHECK(area.phases[0].mean_s == 5);
  CHECK(area.phases[1].inside_s == 1);
  CHECK(area.phases[2].phase == Phase::kTransfer);
  CHECK(area.phases[2].count == 2);
  CHECK(area.phases[2].inside_s == 6);
  CHECK(area.phases[2].least_s == 3);
  CHECK(area.phases[2].most_s == 6);
  // Waits inside: 4 s of worker 0, 2 s of worker 1; means over both: network (4 + 2) / 2, all
  // exposed.
  CHECK(area.phases[3].phase == Phase::kWait);
  CHECK(area.phases[3].inside_s == 6);
  CHECK(area.split.network_s == 3);
  CHECK(area.split.exposed_s == 3);
  CHECK(area.hidden_s() == 0);
  // 100 bytes over 10 s: 40 of them in 4 s, of the 80 that 160 bit/s carry there.
  REQUIRE(area.links.size() == 1);
  CHECK(area.links[0].bytes == Approx(40));
  CHECK(area.links[0].utilisation == Approx(0.5));
  const DataTable table = area_table(area);
  CHECK(table.rows.size() == 4 + 3 + 1);
  for (const QStringList& row : table.rows) CHECK(row.size() == table.header.size());
  CHECK(area_text(area).contains("exposed"));
}

TEST_CASE("segments are found by label, phase, lane, worker and step", "[unit]") {
  auto segments = straggler();
  segments.push_back({3, 1, kCompute, "forward", 12, 13, 0});
  const auto timeline = timeline_of(segments, 2, {}, {{0, "worker0 -> switch", 8, {{0, 1, 1}}}});
  const auto count = [&](const char* words) {
    return TimelineSearch(*timeline, words).found().size();
  };
  CHECK(count("encode") == 2);
  CHECK(count("ENCODE worker 1") == 1);
  CHECK(count("b0") == 8);
  CHECK(count("step 3") == 2);       // the forward pass, and the wait before it
  CHECK(count("network") == 2 + 2);  // transfers by their lane, waits by their name
  CHECK(count("wait worker 0") == 2);
  CHECK(count("no such thing") == 0);
  CHECK(count("  ") == 0);
  const TimelineSearch search(*timeline, "encode");
  const auto& found = search.found();
  CHECK(timeline->segments[found[0]].start_s < timeline->segments[found[1]].start_s);
  CHECK(links_found(*timeline, "worker0").size() == 1);
  CHECK(links_found(*timeline, "link worker0").size() == 1);
  CHECK(links_found(*timeline, "worker1").empty());
  // A mark is of a block of positions.
  const RowMarks marks(timeline->rows, timeline->segments.size(), found);
  CHECK(marks.any(1, 0, 0));
  CHECK_FALSE(marks.any(0, 0, 9));
}

TEST_CASE("pinned rows stand on top, in both runs, one above the other", "[unit]") {
  const Tracks tracks = {timeline_of(straggler()), timeline_of(straggler())};
  RowOrder order;
  order.set_tracks(tracks);
  // A heading and six rows (compute, codec, network of two workers) a run.
  REQUIRE(order.rows().size() == 2 * 7);
  CHECK(order.rows()[0].heading());
  CHECK(order.rows()[7].heading());
  CHECK(order.rows()[7].track == 1);
  CHECK(order.fixed() == 0);
  order.toggle_pin(tracks, 1, 4);
  CHECK(row_name(*tracks[1], 4) == "worker 1 codec");
  CHECK(order.fixed() == 2);
  CHECK(order.rows()[0] == ShownRow{0, 4, true});
  CHECK(order.rows()[1] == ShownRow{1, 4, true});
  CHECK(order.rows().size() == 2 * 7);
  CHECK(order.place_of(1, 4) == 1);
  // A pin holds for the next run; again takes it away.
  order.set_tracks({tracks[0], nullptr});
  CHECK(order.fixed() == 1);
  order.toggle_pin({tracks[0], nullptr}, 0, 4);
  CHECK(order.fixed() == 0);
}
