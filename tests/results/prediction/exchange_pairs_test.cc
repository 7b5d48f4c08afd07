#include "results/prediction/exchange_pairs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "sim/graph/collective.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

using Pairs = std::multiset<std::pair<int, int>>;

/// Who sends to whom in each hop of sim's own collective, run without time: whatever may start is
/// delivered at once.
std::map<int, Pairs> sent_by(sim::CollectiveKind kind, int workers, int group, bool sized) {
  sim::CollectiveSpec spec;
  spec.kind = kind;
  spec.members.resize(static_cast<std::size_t>(workers));
  std::iota(spec.members.begin(), spec.members.end(), 0);
  spec.server = workers;
  spec.group = group;
  spec.elements = 1024;
  const std::vector<Bytes> bytes(sized ? static_cast<std::size_t>(workers) : 0, Bytes(100));
  const auto generator = sim::make_generator(spec, bytes);
  std::vector<sim::HopTransfer> start, next;
  for (int rank = spec.kind->has_server() ? -1 : 0; rank < workers; ++rank)
    generator->on_ready(rank, start);
  std::map<int, Pairs> sent;
  while (!start.empty()) {
    next.clear();
    for (const sim::HopTransfer& hop : start) {
      sent[hop.hop].insert({hop.source_rank < 0 ? workers : hop.source_rank,
                            hop.destination_rank < 0 ? workers : hop.destination_rank});
      generator->on_delivered(hop, next);
      if (generator->wants_sent()) generator->on_sent(hop, next);
    }
    std::swap(start, next);
  }
  return sent;
}

Pairs set_of(const HopPairs& hop, bool back = false) {
  Pairs pairs;
  for (const RankPair& pair : hop.pairs)
    pairs.insert(back ? std::pair(pair.destination, pair.source)
                      : std::pair(pair.source, pair.destination));
  return pairs;
}

}  // namespace

TEST_CASE("Pairs of each hop are those that collectives send to") {
  for (int n = 2; n <= 20; ++n) {
    INFO(n << " workers");
    const auto ring = sent_by(sim::CollectiveKind::kRingAllReduce, n, 1, false);
    REQUIRE(ring.size() == static_cast<std::size_t>(2 * (n - 1)));
    for (const auto& [hop, pairs] : ring)
      CHECK(pairs == set_of(hop_pairs(ExchangeKind::kRingAllReduce, n)[0]));

    // Up a tree's levels from the leaves, and down them again.
    const auto levels = hop_pairs(ExchangeKind::kTreeAllReduce, n);
    const auto tree = sent_by(sim::CollectiveKind::kTreeAllReduce, n, 1, false);
    REQUIRE(tree.size() == 2 * levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
      CHECK(tree.at(static_cast<int>(l)) == set_of(levels[l]));
      CHECK(tree.at(static_cast<int>(2 * levels.size() - 1 - l)) == set_of(levels[l], true));
    }

    // Halving from the first entry to the last, doubling back.
    const auto halves = hop_pairs(ExchangeKind::kHalvingDoubling, n);
    const auto exchanged = sent_by(sim::CollectiveKind::kHalvingDoublingAllReduce, n, 1, false);
    auto sent = exchanged.begin();
    for (const HopPairs& hop : halves) CHECK((sent++)->second == set_of(hop));
    for (auto hop = halves.rbegin(); hop != halves.rend(); ++hop)
      CHECK((sent++)->second == set_of(*hop, true));
    CHECK(sent == exchanged.end());

    const auto gathered = sent_by(sim::CollectiveKind::kDirectAllGather, n, 1, true);
    Pairs all;
    for (const auto& [hop, pairs] : gathered) all.insert(pairs.begin(), pairs.end());
    CHECK(all == set_of(hop_pairs(ExchangeKind::kDirectAllGather, n)[0]));
    CHECK(hop_pairs(ExchangeKind::kDirectAllGather, n)[0].each == 1);
  }
}

TEST_CASE("Pairs of two levels: the leaders' ring, then members and leaders") {
  for (const auto& [n, group] : {std::pair(8, 4), {9, 4}, {12, 3}, {16, 8}, {4, 4}}) {
    INFO(n << " workers in groups of " << group);
    const auto sent = sent_by(sim::CollectiveKind::kTwoLevelAllReduce, n, group, false);
    const auto hops = hop_pairs(ExchangeKind::kTwoLevel, n, group);
    CHECK(hops.size() == hops_of(ExchangeKind::kTwoLevel, n, group).size());
    for (const auto& [hop, pairs] : sent) {
      if (hop == 0)
        CHECK(pairs == set_of(hops.back()));
      else if (hop == sent.rbegin()->first)
        CHECK(pairs == set_of(hops.back(), true));
      else
        CHECK(pairs == set_of(hops.front()));
    }
  }
}

TEST_CASE("There are pairs for each entry of an exchange's hops") {
  for (int kind = 0; kind <= static_cast<int>(ExchangeKind::kScatterReduce); ++kind)
    for (const int n : {1, 2, 3, 7, 8, 33})
      CHECK(hop_pairs(static_cast<ExchangeKind>(kind), n, 4).size() ==
            hops_of(static_cast<ExchangeKind>(kind), n, 4).size());
}

TEST_CASE("Of very many that send to all, some stand for the others") {
  const HopPairs hop = hop_pairs(ExchangeKind::kDirectAllGather, 1000)[0];
  CHECK(hop.pairs.size() <= static_cast<std::size_t>(kMostPairs));
  CHECK(hop.each * static_cast<double>(hop.pairs.size()) == Approx(1000.0 * 999));
}
