#include "bridge/loss.h"

#include <sys/socket.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::StartsWith;

namespace {

std::unique_ptr<RankLink> link_of(int rank) {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  const FileDescriptor other(ends[1]);
  auto link = std::make_unique<RankLink>(FileDescriptor(ends[0]));
  link->rank = rank;
  return link;
}

/// Two ranks: 0 falls silent, 1 ends by an exception; each is found gone when a test says so.
struct Losses {
  Losses() : order(2), silent(link_of(0)), failed(link_of(1)) {
    for (const int rank : {0, 1}) order.add_group(rank, "0", {0, 1});
    failed->ended = true;
    failed->failure = "ValueError: no such layer";
  }

  void fail_waiting() {
    Event call;
    call.rank = 1;
    call.call.number = 1;
    call.call.group = "0";
    order.add(call);
    Event wait;
    wait.kind = Event::Kind::kWait;
    wait.rank = 1;
    wait.waited = {1};
    order.add(wait);
    failed->blocked_on = order.blocked_on(1);
    REQUIRE(failed->blocked_on);
  }

  std::string told() const { return describe_loss({{0, silent.get()}, {1, failed.get()}}, order); }

  Order order;
  std::unique_ptr<RankLink> silent, failed;
};

void close(RankLink& link, std::int64_t listened) {
  link.close();
  link.closed_in = listened;
}

}  // namespace

TEST_CASE("losses: of two that are found gone at once, in any order, who told why is the cause",
          "[unit]") {
  for (const bool silent_first : {true, false}) {
    CAPTURE(silent_first);
    Losses both;
    if (silent_first) close(*both.silent, 3);
    both.failed->ended_at = std::chrono::steady_clock::now();
    close(*both.failed, 3);
    if (!silent_first) close(*both.silent, 3);
    CHECK_THAT(both.told(), StartsWith("rank 1 failed: ValueError: no such layer"));
  }
  // The control: it was gone before.
  Losses one;
  close(*one.silent, 2);
  one.failed->ended_at = std::chrono::steady_clock::now();
  close(*one.failed, 3);
  CHECK_THAT(one.told(), StartsWith("rank 0 died"));
}

TEST_CASE("losses: of two that are found gone at once, whom the other waited for is the cause",
          "[unit]") {
  Losses both;
  both.fail_waiting();
  both.failed->ended_at = std::chrono::steady_clock::now();
  close(*both.failed, 3);
  close(*both.silent, 3);
  CHECK_THAT(both.told(), StartsWith("rank 0 died"));
}
