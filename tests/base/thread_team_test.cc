#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_team.h"

namespace gradwire {
namespace {

TEST_CASE("a loop's bodies are called once each, again and again") {
  for (const int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    REQUIRE(team.size() == threads);
    for (std::size_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      for (int repeat = 0; repeat < 50; ++repeat)
        team.run(count, [&](std::size_t i) { ++calls[i]; });
      for (const auto& n : calls) REQUIRE(n == 50);
    }
  }
}

TEST_CASE("ranges cover everything, cut at multiples") {
  ThreadTeam team(3);
  for (const std::size_t n : {0u, 1u, 99u, 100u, 1001u, 4096u, 100003u}) {
    std::vector<std::atomic<int>> seen(n);
    for_ranges(&team, n, 32, 100, [&](std::size_t begin, std::size_t end) {
      if (begin % 32 != 0 || begin > end) throw std::logic_error("cut elsewhere");
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (const auto& times : seen) REQUIRE(times == 1);
  }
}

TEST_CASE("of several exceptions the lowest body's comes out, whichever is thrown first") {
  // Two threads take bodies 0 and 1. Body 0 waits until body 1 is about to throw, and throws later.
  for (int repeat = 0; repeat < 50; ++repeat) {
    ThreadTeam team(2);
    std::atomic<bool> other_throws{false};
    CHECK_THROWS_WITH(team.run(100,
                               [&](std::size_t i) {
                                 while (i == 0 && !other_throws) std::this_thread::yield();
                                 if (i == 0)
                                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 other_throws = true;
                                 throw std::runtime_error(std::to_string(i));
                               }),
                      "0");
  }
}

TEST_CASE("bodies below one that throws are all called") {
  for (const int threads : {1, 2, 4}) {
    ThreadTeam team(threads);
    std::vector<std::atomic<int>> calls(1000);
    CHECK_THROWS_WITH(team.run(1000,
                               [&](std::size_t i) {
                                 ++calls[i];
                                 if (i == 500 || i == 900) throw std::runtime_error("body");
                               }),
                      "body");
    for (std::size_t i = 0; i <= 500; ++i) REQUIRE(calls[i] == 1);
  }
}

TEST_CASE("an exception comes out, and the team works on") {
  ThreadTeam team(2);
  for (int repeat = 0; repeat < 20; ++repeat)
    CHECK_THROWS_AS(team.run(100,
                             [](std::size_t i) {
                               if (i == 37) throw std::runtime_error("37");
                             }),
                    std::runtime_error);
  std::atomic<int> sum{0};
  team.run(10, [&](std::size_t i) { sum += static_cast<int>(i); });
  CHECK(sum == 45);
}

}  // namespace
}  // namespace gradwire
