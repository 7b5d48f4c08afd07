#include "trainers/side_threads.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <stdexcept>

namespace gradwire::trainers {
namespace {

TEST_CASE("side threads: what is due first is begun first, whatever came first") {
  SideThreads threads(1);
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::vector<int> order;
  threads.begin(0, Seconds(9), [&](int) { gone.wait(); });  // the one thread is busy
  for (const auto& [key, due] : {std::pair{1, 3.0}, {2, 1.0}, {3, 2.0}, {4, 1.0}})
    threads.begin(static_cast<SideThreads::Key>(key), Seconds(due),
                  [&order, key = key](int) { order.push_back(key); });
  CHECK_FALSE(threads.has_ended(2));
  go.set_value();
  for (const SideThreads::Key key : {1, 2, 3, 4}) threads.take(key);
  CHECK(order == std::vector<int>{2, 4, 3, 1});
}

TEST_CASE("side threads: who takes a task gets what it threw, and may begin it again") {
  SideThreads threads(2);
  threads.begin(7, Seconds(0), [](int) { throw std::runtime_error("not finite"); });
  CHECK_THROWS_WITH(threads.take(7), "not finite");
  int thread = -1;
  threads.begin(7, Seconds(0), [&](int own) { thread = own; });
  threads.take(7);
  CHECK((thread == 0 || thread == 1));
}

TEST_CASE("side threads: stopping waits for what has begun and leaves out the rest") {
  SideThreads threads(1);
  std::promise<void> begun, go;
  std::atomic<int> ended = 0;
  threads.begin(1, Seconds(0), [&](int) {
    begun.set_value();
    go.get_future().wait();
    ++ended;
  });
  threads.begin(2, Seconds(1), [&](int) { ended += 10; });
  begun.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { threads.stop(); });
  CHECK(stopped.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  go.set_value();
  stopped.wait();
  CHECK(ended == 1);
}

}  // namespace
}  // namespace gradwire::trainers
