// The two event queues against plain sorted containers, with many equal times.
#include <catch2/catch.hpp>
#include <set>

#include "base/philox.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/session/event_heap.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

struct Draws {
  RandomStream stream;
  std::uint64_t next = 0;
  int below(int n) { return static_cast<int>(n * static_cast<double>(uniform(stream, next++))); }
};

struct Item {
  double time = 0;
  std::uint64_t order = 0;
  int number = 0;
};

}  // namespace

TEST_CASE("events come out by time, equal ones in order of insertion") {
  for (std::uint32_t instance = 0; instance < 20; ++instance) {
    Draws draws{{11, instance, 0, kFirstReservedTensor}};
    EventHeap<Item> heap;
    std::set<std::pair<double, int>> expected;  // numbers rise with insertion
    double rising = 0;
    for (int step = 0; step < 2000; ++step) {
      if (draws.below(5) < 3 || expected.empty()) {
        // Mostly in order, as arrivals are; some before what waits already.
        rising += draws.below(2);
        const double time = draws.below(4) == 0 ? draws.below(30) : rising;
        heap.push({time, 0, step});
        expected.insert({time, step});
        continue;
      }
      REQUIRE(!heap.empty());
      CHECK(heap.top().number == expected.begin()->second);
      CHECK(heap.pop().time == expected.begin()->first);
      expected.erase(expected.begin());
    }
    CHECK(heap.empty() == expected.empty());
  }
}

TEST_CASE("numbers come out by time and number, however they were set, moved and removed") {
  constexpr int kNumbers = 40;
  for (std::uint32_t instance = 0; instance < 40; ++instance) {
    Draws draws{{12, instance, 0, kFirstReservedTensor}};
    IndexedHeap::Nodes nodes(kNumbers);
    IndexedHeap heap(nodes);
    std::vector<double> times(kNumbers, -1);
    std::vector<IndexedHeap::Entry> taken;
    for (int step = 0; step < 3000; ++step) {
      const int what = draws.below(20);
      const int number = draws.below(kNumbers);
      if (what < 14) {
        times[static_cast<std::size_t>(number)] = draws.below(4);
        heap.set(number, times[static_cast<std::size_t>(number)]);
      } else if (what < 18) {
        times[static_cast<std::size_t>(number)] = -1;
        heap.remove(number);
      } else {
        const int limit = draws.below(4);
        std::set<std::pair<double, int>> due;
        for (int n = 0; n < kNumbers; ++n) {
          double& time = times[static_cast<std::size_t>(n)];
          if (time >= 0 && time <= limit) due.insert({time, n}), time = -1;
        }
        heap.take_until(limit, taken);
        std::vector<std::pair<double, int>> got;
        for (const IndexedHeap::Entry& e : taken) got.push_back({e.time, e.number});
        CHECK(got == std::vector<std::pair<double, int>>(due.begin(), due.end()));
      }
      double least = -1;
      for (const double t : times) least = t >= 0 && (least < 0 || t < least) ? t : least;
      REQUIRE(heap.empty() == (least < 0));
      if (least >= 0) REQUIRE(heap.first_time() == least);
    }
  }
}
