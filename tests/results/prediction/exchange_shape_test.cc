#include "results/prediction/exchange_shape.h"

#include <catch2/catch.hpp>

using namespace gradwire::results;

TEST_CASE("Messages over the busiest link") {
  // Ring all-reduce of 4: 6 hops of a quarter = 1.5; 2 (n - 1) / n.
  CHECK(messages_carried(ExchangeKind::kRingAllReduce, 4) == Approx(1.5));
  CHECK(messages_carried(ExchangeKind::kRingAllGather, 4) == Approx(3));
  CHECK(messages_carried(ExchangeKind::kDirectAllGather, 4) == Approx(3));
  CHECK(messages_carried(ExchangeKind::kParameterServer, 4) == Approx(8));
  CHECK(messages_carried(ExchangeKind::kTreeAllReduce, 5) == Approx(6));  // 2 ceil(log2 5)
  // Halving-doubling of 8: 2 (1/2 + 1/4 + 1/8) = 1.75 as a ring's; of 6: those of 4 and 2 more.
  CHECK(messages_carried(ExchangeKind::kHalvingDoubling, 8) == Approx(1.75));
  CHECK(messages_carried(ExchangeKind::kHalvingDoubling, 6) == Approx(1.5 + 2));
  // Two-level, 8 in groups of 4: a ring of 2 leaders (1), and 2 x 3 at a leader.
  CHECK(messages_carried(ExchangeKind::kTwoLevel, 8, 4) == Approx(1 + 6));
  CHECK(messages_carried(ExchangeKind::kInNetwork, 100) == Approx(1 + 1.0 / 64));
  // Scatter-reduce of 4: three quarters to the others at once, then 3 hops of a quarter.
  CHECK(messages_carried(ExchangeKind::kScatterReduce, 4) == Approx(1.5));
  CHECK(hops_of(ExchangeKind::kScatterReduce, 4).size() == 2);
  CHECK(messages_carried(ExchangeKind::kRingAllReduce, 1) == 0);
}

TEST_CASE("All-gather sends fewer bytes only where the ratio beats half the workers") {
  // r times smaller messages gathered, against the ring's: (n - 1) / r < 2 (n - 1) / n iff r > n/2.
  for (const int n : {4, 16, 64})
    for (const double ratio : {0.45 * n, 0.55 * n})
      CHECK((messages_carried(ExchangeKind::kRingAllGather, n) / ratio <
             messages_carried(ExchangeKind::kRingAllReduce, n)) == (ratio > 0.5 * n));
}

TEST_CASE("Names are sim's and the scenarios'") {
  ExchangeKind kind{};
  CHECK(exchange_kind("ring-all-gather", kind));
  CHECK(kind == ExchangeKind::kRingAllGather);
  CHECK(exchange_kind("tree", kind));
  CHECK(name_of(kind) == "tree-all-reduce");
  CHECK_FALSE(exchange_kind("gossip", kind));
}
