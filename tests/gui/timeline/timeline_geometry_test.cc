#include "gui/timeline/timeline_geometry.h"

#include "gui/timeline/run_timeline.h"

#include <catch2/catch.hpp>

#include "sim/graph/step_graph.h"

using namespace gradwire::gui;
using gradwire::results::TimelineSegment;

namespace {

constexpr auto kCompute = static_cast<std::uint8_t>(gradwire::sim::Lane::kCompute);
constexpr auto kCodec = static_cast<std::uint8_t>(gradwire::sim::Lane::kCodec);
constexpr std::uint8_t kNetwork = 255;

/// One step of two workers, seconds:
///   worker 0: compute 0-4, codec 4-5, network 3-7
///   worker 1: compute 0-2, network 3-5
std::vector<TimelineSegment> two_workers() {
  return {{0, 1, kNetwork, "transfer", 3, 5, 200},  {0, 0, kCompute, "forward", 0, 1, 0},
          {0, 0, kCompute, "backward b0", 1, 4, 0}, {0, 0, kCodec, "encode b0", 4, 5, 0},
          {0, 0, kNetwork, "transfer", 3, 7, 100},  {0, 1, kCompute, "backward b0", 0, 2, 0}};
}

}  // namespace

TEST_CASE("rows are sorted by worker and lane, segments by start", "[unit]") {
  const auto segments = two_workers();
  const TimelineRows rows = build_rows(segments);
  REQUIRE(rows.rows.size() == 5);
  CHECK(rows.rows[0].group == LaneGroup::kCompute);
  CHECK(rows.rows[1].group == LaneGroup::kCodec);
  CHECK(rows.rows[2].group == LaneGroup::kNetwork);
  CHECK(rows.rows[3].worker == 1);
  CHECK(rows.rows[0].segments == std::vector<std::uint32_t>{1, 2});
  CHECK(rows.start_s == 0);
  CHECK(rows.end_s == 7);
  CHECK(build_rows({}).rows.empty());
}

TEST_CASE("overlap numbers are means over workers of unions of intervals", "[unit]") {
  const auto segments = two_workers();
  const OverlapNumbers numbers = overlap_numbers(build_rows(segments), segments, 0, 2);
  // Worker 0: network 3-7 = 4 s, compute and codec cover 0-5, so 3-5 = 2 s hidden, 2 s exposed.
  // Worker 1: network 3-5 = 2 s, compute covers 0-2: nothing hidden, 2 s exposed.
  CHECK(numbers.split.workers == 2);
  CHECK(numbers.step_s == 7);
  CHECK(numbers.split.compute_s == (4 + 2) / 2.0);
  CHECK(numbers.split.codec_s == 0.5);
  CHECK(numbers.split.network_s == (4 + 2) / 2.0);
  CHECK(numbers.split.network_s - numbers.split.exposed_s == (2 + 0) / 2.0);
  CHECK(numbers.split.exposed_s == (2 + 2) / 2.0);
  CHECK(overlap_numbers(build_rows(segments), segments, 9, 2).split.workers == 0);
}

TEST_CASE("overlapping transfers count once and a collective concerns every worker", "[unit]") {
  // Worker 0 computes 0-2; two transfers 1-3 and 2-4 unite to 1-4 = 3 s, of which 1-2 is hidden.
  std::vector<TimelineSegment> segments = {{0, 0, kCompute, "forward", 0, 2, 0},
                                           {0, 0, kNetwork, "a", 1, 3, 1},
                                           {0, 0, kNetwork, "b", 2, 4, 1}};
  OverlapNumbers numbers = overlap_numbers(build_rows(segments), segments, 0, 2);
  CHECK(numbers.split.network_s == 3);
  CHECK(numbers.split.exposed_s == 2);
  // A collective of no single worker from 3 to 6 extends the union to 1-6 = 5 s.
  segments.push_back({0, -1, kNetwork, "all-reduce", 3, 6, 1});
  numbers = overlap_numbers(build_rows(segments), segments, 0, 2);
  CHECK(numbers.split.workers == 1);
  CHECK(numbers.split.network_s == 5);
  CHECK(numbers.split.exposed_s == 4);
}

TEST_CASE("zooming keeps the time under the pointer", "[unit]") {
  TimelineWindow window{0, 10, 1000};
  // Pixel 250 is 2.5 s; zooming in twice shows 5 s with 2.5 s still a quarter across: from 1.25 s.
  window.zoom(2, 250, 0, 10);
  CHECK(window.length_s == Approx(5));
  CHECK(window.start_s == Approx(1.25));
  CHECK(window.x_of(2.5) == Approx(250));
  CHECK(window.time_at(250) == Approx(2.5));
  // Panning by 100 of 1000 pixels moves a tenth of 5 s.
  window.pan(100, 0, 10);
  CHECK(window.start_s == Approx(1.75));
}

TEST_CASE("the window never leaves the data nor shrinks to nothing", "[unit]") {
  TimelineWindow window{0, 10, 1000};
  window.zoom(1e-6, 500, 0, 10);
  // One percent of margin on each side.
  CHECK(window.start_s == Approx(-0.1));
  CHECK(window.length_s == Approx(10.2));
  window.pan(-1e6, 0, 10);
  CHECK(window.start_s == Approx(-0.1));
  window.zoom(1e30, 500, 0, 10);
  CHECK(window.length_s == Approx(TimelineWindow::kShortest));
  window.show(2, 4, 0, 10);
  CHECK(window.start_s == Approx(1.98));
  CHECK(window.length_s == Approx(2.04));
}

TEST_CASE("segments below a pixel merge, wider ones do not", "[unit]") {
  // 1000 segments of 1 ms in 1 s; every tenth is a long one of 0.9 ms among 0.1 ms ones.
  std::vector<TimelineSegment> segments;
  for (int i = 0; i < 1000; ++i) {
    const bool large = i % 10 == 5;
    const double start = i * 1e-3;
    segments.push_back(
        {0, 0, kCompute, large ? "backward" : "forward", start, start + (large ? 9e-4 : 1e-4), 0});
  }
  const TimelineRows rows = build_rows(segments);
  std::vector<TimelineBlock> blocks;
  // 100 pixels for 1 s: 10 segments a pixel, one block each, coloured by its longest segment.
  TimelineWindow window{0, 1, 100};
  visible_blocks(rows.rows[0], window, blocks);
  CHECK(blocks.size() <= 101);
  CHECK(blocks.size() >= 99);
  std::uint32_t drawn = 0;
  for (const TimelineBlock& block : blocks) drawn += block.count;
  CHECK(drawn == 1000);
  CHECK(blocks[10].phase == Phase::kBackward);
  CHECK(blocks[10].count > 5);
  // Zoomed to 10 ms over 100 pixels: a millisecond is 10 pixels, 0.1 ms is one: nothing merges.
  window = {0.1, 0.01, 100};
  visible_blocks(rows.rows[0], window, blocks);
  REQUIRE(blocks.size() >= 10);
  CHECK(blocks.size() <= 12);
  for (const TimelineBlock& block : blocks) CHECK(block.count == 1);
  // What lies outside is not drawn at all.
  window = {2, 1, 100};
  visible_blocks(rows.rows[0], window, blocks);
  CHECK(blocks.empty());
}

TEST_CASE("a long segment that began before the window is found", "[unit]") {
  // The transfer 0-100 spans the window 50-51; the short ones before it do not hide it.
  std::vector<TimelineSegment> segments = {{0, 0, kNetwork, "long", 0, 100, 1}};
  for (int i = 0; i < 40; ++i) {
    segments.push_back({0, 0, kNetwork, "short", 1.0 + i, 1.5 + i, 1});
  }
  const TimelineRows rows = build_rows(segments);
  std::vector<TimelineBlock> blocks;
  visible_blocks(rows.rows[0], {50, 1, 500}, blocks);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].segment == 0);
  // At 2.2 s both the long and a short one lie: the shorter one is meant.
  const auto hit = segment_at(rows.rows[0], 2.2, 0);
  REQUIRE(hit);
  CHECK(segments[*hit].label == "short");
  CHECK(segments[*segment_at(rows.rows[0], 60, 0)].label == "long");
  CHECK_FALSE(segment_at(rows.rows[0], 200, 1));
}

TEST_CASE("what is taken together in chunks is what is looked at one by one", "[unit]") {
  // 6,400 segments of a row, 50 times as many as there are pixels; every 640th is ten times as
  // long.
  std::vector<TimelineSegment> segments;
  for (int i = 0; i < 6400; ++i) {
    const bool large = i % 640 == 333;
    const double start = i * 1e-3;
    segments.push_back(
        {0, 0, kCompute, large ? "backward" : "forward", start, start + (large ? 9e-3 : 9e-4), 0});
  }
  const TimelineRows rows = build_rows(segments);
  TimelineRow one_by_one = rows.rows[0];
  for (TimelineRow::Chunk& chunk : one_by_one.chunks) chunk.longest_s = 1e9;  // never taken whole
  const TimelineWindow window{0, 6.4, 128};
  std::vector<TimelineBlock> chunked, plain;
  visible_blocks(rows.rows[0], window, chunked);
  visible_blocks(one_by_one, window, plain);
  REQUIRE(chunked.size() == plain.size());
  std::uint32_t drawn = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(chunked[i].count == plain[i].count);
    CHECK(chunked[i].segment == plain[i].segment);
    CHECK(chunked[i].x1 == plain[i].x1);
    CHECK(chunked[i].last == plain[i].last);
    drawn += chunked[i].count;
  }
  CHECK(drawn == 6400);
}

TEST_CASE("many segments make no more blocks than there are pixels for", "[unit]") {
  // The number of blocks is what bounds the painting.
  std::vector<TimelineSegment> segments;
  for (int i = 0; i < 200000; ++i) {
    segments.push_back({i / 1000, 0, kCompute, "forward", i * 1e-4, i * 1e-4 + 9e-5, 0});
  }
  const TimelineRows rows = build_rows(segments);
  std::vector<TimelineBlock> blocks;
  visible_blocks(rows.rows[0], {0, 20, 1000}, blocks);
  CHECK(blocks.size() <= 2 * 1000);
  CHECK(rows.steps.size() == 200);
}

TEST_CASE("a link's columns are its utilisation, intervals below a pixel taken together",
          "[unit]") {
  // 800 bit/s are 100 bytes a second. 0-1 s: 50 bytes = half; 1-2 s: all; 2-3 s: nothing.
  gradwire::results::LinkSeries link{
      0, "worker0 -> switch", 800, {{0, 1, 50}, {1, 2, 100}, {2, 3, 0}}};
  auto columns = visible_columns(link, {0, 3, 300});
  REQUIRE(columns.size() == 3);
  CHECK(columns[0].mean == Approx(0.5));
  CHECK(columns[1].mean == Approx(1));
  CHECK(columns[1].x0 == Approx(100));
  CHECK(columns[2].mean == 0);
  // Three seconds on one pixel: (0.5 + 1 + 0) / 3, at most 1.
  columns = visible_columns(link, {0, 3, 1});
  REQUIRE(columns.size() == 1);
  CHECK(columns[0].mean == Approx(0.5));
  CHECK(columns[0].peak == Approx(1));
  // Half of the first interval and a quarter of the second: 25 + 25 bytes.
  CHECK(link_bytes(link, 0.5, 1.25) == Approx(50));
  CHECK(visible_columns(link, {5, 1, 100}).empty());
}
