#include "bridge/order.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::bridge;
using Catch::Contains;

namespace {

/// Ranks that are all in group "0" and call as a test says.
struct Script {
  explicit Script(int world) : order(world), calls(static_cast<std::size_t>(world)) {
    std::vector<int> all;
    for (int rank = 0; rank < world; ++rank) all.push_back(rank);
    for (const int rank : all) order.add_group(rank, "0", all);
  }

  std::int64_t call(int rank, Call call) {
    Event event;
    event.rank = rank;
    event.call = std::move(call);
    event.call.number = ++calls[static_cast<std::size_t>(rank)];
    if (event.call.group.empty()) event.call.group = "0";
    order.add(event);
    return event.call.number;
  }

  void wait(int rank, std::int64_t number) {
    Event event;
    event.kind = Event::Kind::kWait;
    event.rank = rank;
    event.waited = {number};
    order.add(event);
  }

  Order order;
  std::vector<std::int64_t> calls;
};

Call reduce_of(std::int64_t elements) {
  Call call;
  call.kind = CallKind::kAllReduce;
  call.elements = elements;
  call.type = "float32";
  call.reduction = "sum";
  call.place = "train.py:" + std::to_string(elements);
  return call;
}

Call broadcast_from(int root) {
  Call call;
  call.kind = CallKind::kBroadcast;
  call.elements = 5;
  call.type = "float32";
  call.peer = root;
  return call;
}

Call point_to_point(CallKind kind, int peer, int tag = 0) {
  Call call;
  call.kind = kind;
  call.elements = 4;
  call.peer = peer;
  call.tag = tag;
  return call;
}

}  // namespace

TEST_CASE("order: the k-th calls of a group are one operation, however they arrive", "[unit]") {
  Script script(2);
  script.call(0, reduce_of(8));
  script.call(0, broadcast_from(1));
  script.call(1, reduce_of(8));
  CHECK(script.order.operations().size() == 2);
  CHECK(script.order.operation_of(0, 1) == script.order.operation_of(1, 1));
  CHECK(script.order.operations()[0].complete());
  CHECK(script.order.operations()[1].missing() == std::vector<int>{1});
  CHECK_FALSE(script.order.conflict());
}

TEST_CASE("order: who waits is blocked until the others have called", "[unit]") {
  Script script(3);
  script.wait(0, script.call(0, reduce_of(8)));
  script.call(1, reduce_of(8));
  REQUIRE(script.order.blocked_on(0));
  CHECK(script.order.operations()[*script.order.blocked_on(0)].missing() == std::vector<int>{2});
  CHECK_FALSE(script.order.blocked_on(1));  // it has not said that it waits
  script.call(2, reduce_of(8));
  CHECK_FALSE(script.order.blocked_on(0));
}

TEST_CASE("order: who does not call as the others do is named, with what they called", "[unit]") {
  Script script(4);
  for (int rank = 0; rank < 4; ++rank) script.call(rank, reduce_of(8));
  CHECK_FALSE(script.order.conflict());  // negative control
  for (const int rank : {0, 2}) script.call(rank, reduce_of(16));
  script.call(1, broadcast_from(0));
  REQUIRE(script.order.conflict());
  CHECK(script.order.describe_conflict() ==
        "rank 1 does not call its collectives in the order of the others: rank 1 called broadcast "
        "of 5 float32 from rank 0 (its call 2), where ranks 0 and 2 called all-reduce (sum) of 16 "
        "float32 at train.py:16; rank 3 has not called yet");
  script.call(3, reduce_of(16));
  CHECK_THAT(script.order.describe_conflict(), Contains("ranks 0, 2 and 3 called"));
}

TEST_CASE("order: of two who differ, both are named", "[unit]") {
  Script script(2);
  script.call(0, reduce_of(8));
  script.call(1, reduce_of(9));
  REQUIRE(script.order.conflict());
  CHECK_THAT(script.order.describe_conflict(),
             Contains("ranks 0 and 1 do not call their collectives in one order") &&
                 Contains("8 float32") && Contains("9 float32"));
}

TEST_CASE("order: what must be alike", "[unit]") {
  const auto differ = [](const Call& a, const Call& b) {
    Script script(2);
    script.call(0, a);
    script.call(1, b);
    return script.order.conflict().has_value();
  };
  Call other = reduce_of(8);
  CHECK_FALSE(differ(reduce_of(8), other));
  other.place = "elsewhere.py:1";
  CHECK_FALSE(differ(reduce_of(8), other));
  other.type = "int32";
  CHECK(differ(reduce_of(8), other));
  other = reduce_of(8);
  other.reduction = "max";
  CHECK(differ(reduce_of(8), other));
  CHECK(differ(broadcast_from(0), broadcast_from(1)));
  Call parts;
  parts.kind = CallKind::kAllToAll;
  parts.parts = {1, 2};
  parts.elements = 3;
  Call more = parts;
  more.parts = {2, 2};
  more.elements = 4;
  CHECK_FALSE(differ(parts, more));  // ranks may send each other different amounts
}

TEST_CASE("order: a send belongs to the receive of the same ends and tag, in order", "[unit]") {
  Script script(3);
  script.call(0, point_to_point(CallKind::kSend, 1, 7));
  script.call(0, point_to_point(CallKind::kSend, 1, 8));
  script.call(1, point_to_point(CallKind::kReceive, 0, 8));
  script.wait(1, 1);
  CHECK(script.order.operation_of(1, 1) == script.order.operation_of(0, 2));
  CHECK_FALSE(script.order.blocked_on(1));
  const auto early = script.call(2, point_to_point(CallKind::kReceive, 0));
  script.wait(2, early);
  REQUIRE(script.order.blocked_on(2));
  CHECK(script.order.operations()[*script.order.blocked_on(2)].missing() == std::vector<int>{0});
  script.call(0, point_to_point(CallKind::kSend, 2));
  CHECK_FALSE(script.order.blocked_on(2));
}

TEST_CASE("order: groups keep their own order", "[unit]") {
  Script script(4);
  for (const int rank : {0, 1}) script.order.add_group(rank, "low", {0, 1});
  Call low = reduce_of(2);
  low.group = "low";
  script.call(0, low);
  script.call(0, reduce_of(8));
  script.call(1, reduce_of(8));  // before its call in the other group: as NCCL allows
  script.call(1, low);
  CHECK_FALSE(script.order.conflict());
  CHECK(script.order.operation_of(0, 1) == script.order.operation_of(1, 2));
}

TEST_CASE("order: groups that ranks do not agree on, and calls out of them, are refused",
          "[unit]") {
  Script script(4);
  script.order.add_group(0, "a", {0, 1});
  CHECK_THROWS_WITH(script.order.add_group(1, "a", {1, 2}),
                    Contains("rank 1") && Contains("\"a\""));
  Call call = reduce_of(1);
  call.group = "a";
  CHECK_THROWS_WITH(script.call(1, call), Contains("has not told of"));
  CHECK_THROWS_WITH(script.wait(0, 3), Contains("call 3"));
}

TEST_CASE("order: ranks in words", "[unit]") {
  CHECK(ranks_text({3}) == "rank 3");
  CHECK(ranks_text({0, 2, 3}) == "ranks 0, 2 and 3");
  CHECK(ranks_text({0, 1, 2, 3}) == "ranks 0 to 3");
}
