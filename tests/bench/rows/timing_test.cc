#include "bench/rows/timing.h"

#include <sched.h>

#include <catch2/catch.hpp>
#include <thread>

using namespace gradwire::bench;

TEST_CASE("medians are the middle value", "[unit]") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({9, 7, 5, 3, 1}) == 5);
}

TEST_CASE("rounds call everything in turns and time what is slow as slow", "[unit]") {
  std::string order;
  Rounds rounds;
  const auto waits = [&](char name, int milliseconds) {
    return rounds.add([&order, name, milliseconds] {
      order += name;
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    });
  };
  const std::size_t quick = waits('q', 1), slow = waits('s', 5);
  rounds.run(3, 0);
  // Two warm-up calls each, then rounds in turns.
  CHECK(order.substr(0, 10) == "qqssqsqsqs");
  CHECK(rounds.seconds(quick) >= 1e-3);
  CHECK(rounds.seconds(slow) >= 5e-3);
}

TEST_CASE("a call that is over at once is timed in a loop", "[unit]") {
  long calls = 0;
  Rounds rounds;
  const std::size_t call = rounds.add([&] { ++calls; });
  rounds.run(9, 0);
  CHECK(calls > 1000);
  CHECK(rounds.seconds(call) > 0);
  CHECK(rounds.seconds(call) < 20e-6);
}

TEST_CASE("a pinned thread stays on one processor and is free again afterwards", "[unit]") {
  const auto processors = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    return CPU_COUNT(&set);
  };
  const int before = processors();
  {
    const PinnedThread pinned;
    CHECK(processors() == 1);
  }
  CHECK(processors() == before);
}
