#include "trainers/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "trainers/timing/measure.h"
#include "trainers/updates/optimizer.h"

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

TEST_CASE("optimisers do the arithmetic of their equations") {
  // sgd, lr 0.5, momentum 0.9, decay 0.1; w = 1, g = 2 twice.
  // g' = 2 + 0.1 = 2.1, v = 2.1, w = 1 - 1.05 = -0.05;
  // g' = 2 - 0.005 = 1.995, v = 1.89 + 1.995 = 3.885, w = -0.05 - 1.9425 = -1.9925.
  std::vector<float> w{1}, g{2};
  auto sgd = make_optimizer({"sgd", 0.5, 0.9, 0.1}, 1);
  sgd->step(g, w);
  CHECK(w[0] == Approx(-0.05));
  sgd->step(g, w);
  CHECK(w[0] == Approx(-1.9925));
  // adam: the first step moves by lr against the gradient's sign; with a constant gradient every
  // bias-corrected ratio is 1, so the second does too.
  std::vector<float> x{1, 1}, h{3, -0.01f};
  auto adam = make_optimizer({"adam", 0.1, 0, 0}, 2);
  adam->step(h, x);
  CHECK(x[0] == Approx(0.9));
  CHECK(x[1] == Approx(1.1));
  adam->step(h, x);
  CHECK(x[0] == Approx(0.8));
  CHECK_THROWS(make_optimizer({"lion", 1, 0, 0}, 1));
}

}  // namespace
}  // namespace gradwire::trainers
