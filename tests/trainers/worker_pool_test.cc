#include "trainers/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

TEST_CASE("each item runs once, whatever the number of threads") {
  for (const int threads : {1, 3}) {
    WorkerPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::atomic<int>> ran(17);
      pool.run(17, [&](int item, int thread) {
        CHECK((thread >= 0 && thread < threads));
        ++ran[static_cast<std::size_t>(item)];
      });
      for (const auto& times : ran) CHECK(times == 1);
    }
  }
}

TEST_CASE("the lowest item's exception comes out, and the pool goes on") {
  WorkerPool pool(2);
  const auto fail = [](int item, int) {
    if (item == 3 || item == 7) throw std::runtime_error(std::to_string(item));
  };
  CHECK_THROWS_WITH(pool.run(10, fail), "3");
  CHECK_NOTHROW(pool.run(3, fail));
}

TEST_CASE("median and interquartile range") {
  // Sorted 1 2 3 4 10: quartiles 2 and 4, median 3.
  const Spread spread = spread_of({10, 1, 3, 2, 4});
  CHECK(spread.median == 3);
  CHECK(spread.relative_range == Approx(2.0 / 3.0));
}

}  // namespace
}  // namespace gradwire::trainers
