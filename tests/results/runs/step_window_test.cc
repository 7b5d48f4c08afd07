#include "results/runs/step_window.h"

#include <catch2/catch.hpp>

#include "results/runs/place.h"

using namespace gradwire::results;

namespace {

/// Two workers, three steps of 1 s that overlap by 0.1 s. Of step s: each worker computes from s to
/// s + 0.5, worker 1 encodes from s + 0.4 to s + 0.6, and both send from s + 0.5 to s + 1.1.
std::vector<TimelineSegment> three_steps() {
  std::vector<TimelineSegment> segments;
  for (int step = 0; step < 3; ++step)
    for (int worker = 0; worker < 2; ++worker) {
      segments.push_back({step, worker, 1, "forward", step + 0.0, step + 0.5, 0});
      if (worker == 1) segments.push_back({step, 1, 2, "encode", step + 0.4, step + 0.6, 0});
      segments.push_back({step, worker, kTransferLane, "bucket", step + 0.5, step + 1.1, 9});
    }
  return segments;
}

}  // namespace

TEST_CASE("a window is the step in the middle, with what of its neighbours overlaps it") {
  const std::vector<TimelineSegment> path = {{0, 0, kCriticalLane, "forward", 0.0, 0.5, 0},
                                             {0, 0, kCriticalLane, "bucket", 0.5, 1.1, 0},
                                             {1, 1, kCriticalLane, "forward", 1.1, 1.5, 0},
                                             {2, 0, kCriticalLane, "bucket", 2.2, 3.1, 0}};
  const auto window = middle_step(three_steps(), path);
  REQUIRE(window);
  CHECK(window->step == 1);
  CHECK(window->start_s == 1.0);
  CHECK(window->end_s == 2.1);
  REQUIRE(window->hosts.size() == 2);
  const WorkerTimes &zero = window->hosts[0], &one = window->hosts[1];
  // Step 2 computes from 2.0 on, of which 0.1 s lie in the window.
  CHECK(seconds_of(zero.compute) == Approx(0.5 + 0.1));
  // Step 0 sends until 1.1.
  REQUIRE(zero.network.size() == 2);
  CHECK(zero.network[0].end_s == 1.1);
  CHECK(seconds_of(zero.network) == Approx(0.1 + 0.6));
  // Of 1.5 to 2.1 the last 0.1 s hide behind step 2, and the first 0.1 s of worker 1 behind
  // encoding.
  CHECK(seconds_of(zero.exposed) == Approx(0.5));
  CHECK(seconds_of(one.exposed) == Approx(0.4));
  CHECK(seconds_of(one.exposed_codec) == Approx(0.1));  // 1.5 to 1.6; before, it computes as well
  // The path's two pieces that reach into it, cut to it.
  REQUIRE(window->path.size() == 2);
  CHECK(window->path[0].start_s == 1.0);
  CHECK(window->path[0].end_s == 1.1);
  CHECK_FALSE(middle_step({}, {}));
}

TEST_CASE("a host that only begins where the step ends has no part in it") {
  auto segments = three_steps();
  // Of 1.1 s these are a tenth of a per mille, and a per cent; worker 4's millisecond is the
  // step's.
  segments.push_back({2, 2, kTransferLane, "early", 2.0999, 3, 9});
  segments.push_back({2, 3, kTransferLane, "earlier", 2.089, 3, 9});
  segments.push_back({1, 4, 1, "short", 1.5, 1.501, 0});
  std::vector<std::int32_t> hosts;
  const auto window = middle_step(segments, {});
  REQUIRE(window);
  for (const WorkerTimes& host : window->hosts) hosts.push_back(host.worker);
  CHECK(hosts == std::vector<std::int32_t>{0, 1, 3, 4});
}

TEST_CASE("short pauses are closed, longer ones stay") {
  const std::vector<BusyTime> times = {{0, 1, 0}, {1.1, 2, 0}, {3, 4, 1}};
  CHECK(joined(times, 0.05).size() == 3);
  const auto two = joined(times, 0.2);
  REQUIRE(two.size() == 2);
  CHECK(two[0].end_s == 2);
  CHECK(joined(times, 2).size() == 1);
}

TEST_CASE("mean shares are of all workers and of no server") {
  auto segments = three_steps();
  segments.push_back({1, 2, 1, "server", 1.0, 2.1, 0});  // host 2 of two workers
  const auto window = middle_step(segments, {});
  REQUIRE(window);
  REQUIRE(window->hosts.size() == 3);
  // 11 parts of 0.1 s: both compute in the first five and in the last.
  const auto compute = mean_shares(*window, 2, &WorkerTimes::compute, 11);
  CHECK(compute[0] == Approx(1));
  CHECK(compute[4] == Approx(1));
  CHECK(compute[5] == Approx(0).margin(1e-9));
  CHECK(compute[10] == Approx(1));
  // Worker 1 of two encodes in the sixth.
  CHECK(mean_shares(*window, 2, &WorkerTimes::exposed_codec, 11)[5] == Approx(0.5));
  CHECK(mean_shares(*window, 3, &WorkerTimes::compute, 11)[7] == Approx(1.0 / 3));
}

TEST_CASE("hosts have the names of all views") {
  CHECK(host_name(3, 8) == "worker 3");
  CHECK(host_name(8, 8) == "server 0");
  CHECK(host_name(8, 0) == "worker 8");
  CHECK(host_name(-1, 8) == "all workers");
}
