#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "emulator/clock.h"
#include "emulator/hosts/lane.h"
#include "emulator/hosts/task_pool.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<LaneWork, Seconds>> list;
  std::vector<Seconds> starts;

  LaneThread::OnEnd note() {
    return [this](const LaneWork& work, Seconds start, Seconds end) {
      const std::lock_guard lock(mutex);
      list.emplace_back(work, end);
      starts.push_back(start);
      changed.notify_all();
    };
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return list.size() >= count; }));
  }
};

TEST_CASE("a lane runs one operation at a time, in order of readiness, graph, index", "[unit]") {
  Ended ended;
  LaneThread lane(ended.note());
  const Seconds now = monotonic_now();
  lane.add({now, 1, 0, Seconds(0.02)});  // holds the lane while the others come
  lane.add({now + Seconds(3e-6), 2, 7, Seconds(1e-3)});
  lane.add({now + Seconds(2e-6), 3, 1, Seconds(1e-3)});
  lane.add({now + Seconds(2e-6), 2, 9, Seconds(1e-3)});
  lane.add({now + Seconds(2e-6), 2, 8, Seconds(1e-3)});
  ended.wait_for(5);
  std::vector<std::pair<std::uint64_t, sim::OpIndex>> order;
  for (const auto& [work, end] : ended.list) order.emplace_back(work.graph, work.op);
  CHECK(order == decltype(order){{1, 0}, {2, 8}, {2, 9}, {3, 1}, {2, 7}});
  for (std::size_t i = 0; i < ended.list.size(); ++i) {
    CHECK(ended.list[i].second >= ended.starts[i] + ended.list[i].first.duration);
    if (i > 0) CHECK(ended.starts[i] >= ended.list[i - 1].second);
  }
}

TEST_CASE("cancelling frees a lane and drops what waits", "[unit]") {
  Ended ended;
  LaneThread lane(ended.note());
  const Seconds now = monotonic_now();
  lane.add({now, 1, 0, Seconds(1000)});
  lane.add({now, 1, 1, Seconds(1000)});
  lane.add({now, 2, 0, Seconds(0)});
  lane.cancel(1);
  ended.wait_for(1);
  CHECK(ended.list[0].first.graph == 2);
}

TEST_CASE("sleep_until never returns early", "[unit]") {
  for (const double length : {0.0, 20e-6, 300e-6, 3e-3}) {
    const Seconds target = monotonic_now() + Seconds(length);
    CHECK(sleep_until(target) >= target);
  }
}

TEST_CASE("a pool has a thread for each task that blocks", "[unit]") {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  {
    TaskPool pool;
    for (int i = 0; i < 8; ++i)
      pool.start([&] {  // ends only when all eight run side by side
        std::unique_lock lock(mutex);
        ++running;
        changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(20), [&] { return running == 8; });
      });
  }
  CHECK(running == 8);
}

}  // namespace
}  // namespace gradwire::emulator
