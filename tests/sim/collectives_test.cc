// Trees, halving-doubling, two levels, direct exchanges: who sends how much, and that the data end
// up where they belong. Sizes are taken over ranks that are powers of two and that are not.
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "sim/topologies/topologies.h"
#include "tests/sim/handlers.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

const std::vector<int> kSizes = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16};
const CollectiveKind kAllReduces[] = {
    CollectiveKind::kRingAllReduce, CollectiveKind::kTreeAllReduce,
    CollectiveKind::kHalvingDoublingAllReduce, CollectiveKind::kTwoLevelAllReduce};

CollectiveSpec reduction(CollectiveKind kind, int ranks, std::int64_t elements, int group = 3) {
  CollectiveSpec spec = ring_spec(kind, ranks, elements);
  std::reverse(spec.members.begin(), spec.members.end());  // ranks are not hosts
  spec.group = group;
  return spec;
}

/// Bytes of 4 B elements that rank r sends, by formula.
std::int64_t bytes_by_formula(const CollectiveSpec& spec, int rank) {
  const auto ranks = static_cast<int>(spec.members.size());
  const std::int64_t all = 4 * spec.elements;
  if (spec.kind == CollectiveKind::kTreeAllReduce) {
    // One partial sum up, unless root; one result to each child.
    int children = 0;
    for (int bit = 1; (rank == 0 || bit < (rank & -rank)) && rank + bit < ranks; bit *= 2) {
      ++children;
    }
    return all * (children + (rank > 0));
  }
  if (spec.kind == CollectiveKind::kHalvingDoublingAllReduce) {
    // E divisible by P: all / P for each of the P - 1 chunks that leave in each half.
    const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    const int rest = ranks - power;
    if (rank < 2 * rest && rank % 2 == 0) return all;
    return 2 * (power - 1) * (all / power) + (rank < 2 * rest ? all : 0);
  }
  const int groups = (ranks + spec.group - 1) / spec.group;
  if (rank % spec.group != 0) return all;
  const int others = std::min(spec.group, ranks - rank) - 1;
  return 2 * (groups - 1) * (all / groups) + others * all;
}

/// Every host starts with ones: a sum is the number of workers in it.
class CountHandler : public DataHandler {
 public:
  explicit CountHandler(const CollectiveSpec& spec) {
    for (const std::int32_t host : spec.members) {
      held[host].assign(static_cast<std::size_t>(spec.elements), 1);
    }
  }
  std::span<const std::byte> send(int host, OpIndex, const HopTransfer& hop,
                                  ChunkRange chunk) override {
    const auto part =
        std::span(held.at(host))
            .subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.count));
    for (const std::uint32_t count : part)
      wrong += count != static_cast<std::uint32_t>(hop.contributors);
    return std::as_bytes(part);
  }
  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      std::uint32_t value = 0;
      std::memcpy(&value, payload.data() + 4 * e, 4);
      std::uint32_t& mine = held.at(host)[static_cast<std::size_t>(chunk.first + e)];
      mine = hop.reduce ? mine + value : value;
    }
  }
  std::map<int, std::vector<std::uint32_t>> held;
  int wrong = 0;
};

/// Real sums, whose value depends on the order of additions.
class FloatHandler : public DataHandler {
 public:
  explicit FloatHandler(const CollectiveSpec& spec) {
    for (const std::int32_t host : spec.members) {
      std::vector<float>& mine = held[host];
      for (std::int64_t e = 0; e < spec.elements; ++e) {
        mine.push_back(std::sin(static_cast<float>(host * 31 + e)) *
                       std::exp2f(static_cast<float>(host % 5 * 4)));
      }
    }
  }
  std::span<const std::byte> send(int host, OpIndex, const HopTransfer&,
                                  ChunkRange chunk) override {
    return std::as_bytes(
        std::span(held.at(host))
            .subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.count)));
  }
  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      float value = 0;
      std::memcpy(&value, payload.data() + 4 * e, 4);
      float& mine = held.at(host)[static_cast<std::size_t>(chunk.first + e)];
      mine = hop.reduce ? mine + value : value;
    }
  }
  std::map<int, std::vector<float>> held;
};

/// Loses what the n-th hop brought.
class ForgetfulHandler : public SumHandler {
 public:
  ForgetfulHandler(const CollectiveSpec& spec, int lost) : SumHandler(spec), lost_(lost) {}
  void receive(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    if (count_++ != lost_) SumHandler::receive(host, op, hop, chunk, payload);
  }
  int hops() const { return count_; }

 private:
  int lost_;
  int count_ = 0;
};

/// Chunk d of rank r's message, r's number and the byte's place in it, comes to rank d.
class ExchangeHandler : public DataHandler {
 public:
  explicit ExchangeHandler(const std::vector<Bytes>& sizes) {
    for (std::size_t r = 0; r < sizes.size(); ++r) {
      std::vector<std::byte>& mine = own.emplace_back();
      for (std::int64_t i = 0; i < sizes[r].count(); ++i) {
        mine.push_back(std::byte(static_cast<std::size_t>(i) * 7 + r));
      }
    }
    got.resize(sizes.size());
  }
  std::span<const std::byte> send(int host, OpIndex, const HopTransfer&,
                                  ChunkRange chunk) override {
    return std::span(own[static_cast<std::size_t>(host)])
        .subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.count));
  }
  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange,
               std::span<const std::byte> payload) override {
    got[static_cast<std::size_t>(host)][hop.block].assign(payload.begin(), payload.end());
  }
  std::vector<std::vector<std::byte>> own;
  std::vector<std::map<int, std::vector<std::byte>>> got;  // [host][source rank]
};

/// What flow charges, which must be what total_payload says.
std::int64_t payload_in_flow(const CollectiveSpec& spec, const std::vector<std::int64_t>& sizes) {
  const auto ranks = static_cast<int>(spec.members.size());
  const Step step(graph_of(spec), sizes);
  const Bytes payload = run(*make("flow", Cluster::star(ranks, {})), step).ops[0].payload;
  CHECK(total_payload(spec, step.bytes) == payload);
  return payload.count();
}

double seconds(std::string_view executor, const Cluster& cluster, const CollectiveSpec& spec,
               const std::vector<std::int64_t>& sizes = {}) {
  return run(*make(executor, cluster), Step(graph_of(spec), sizes)).end.value();
}

}  // namespace

TEST_CASE("all-reduce: every rank ends with the sum, in memory and over wires") {
  for (const CollectiveKind kind : kAllReduces) {
    for (const int ranks : kSizes) {
      for (const std::int64_t elements : {0, 1, 17, 1003}) {
        const CollectiveSpec spec = reduction(kind, ranks, elements);
        const GraphPtr graph = graph_of(spec);
        SumHandler memory(spec);
        interpret(*graph, 0, {}, memory);
        INFO(name_of(kind) << ", " << ranks << " ranks, " << elements << " elements");
        CHECK(memory.all_summed());
        if (elements == 1003 && ranks > 8) continue;
        SumHandler threads(spec);
        play_hosts(*graph, {}, ranks, threads);
        CHECK(threads.all_summed());
        CHECK(threads.sent == memory.sent);
      }
    }
  }
}

TEST_CASE("all-reduce: what each rank sends is what the formula says") {
  for (const CollectiveKind kind :
       {CollectiveKind::kTreeAllReduce, CollectiveKind::kHalvingDoublingAllReduce,
        CollectiveKind::kTwoLevelAllReduce}) {
    for (const int ranks : kSizes) {
      for (const int group : {1, 2, 4, 16}) {
        // 65,520 = 16 x 9 x 5 x 7 x 13: every number of chunks here divides it.
        const CollectiveSpec spec = reduction(kind, ranks, 65'520, group);
        CountHandler handler(spec);
        std::map<int, std::int64_t> sent;
        struct Counting : DataHandler {
          Counting(CountHandler& i, std::map<int, std::int64_t>& s) : inner(i), sent(s) {}
          std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                          ChunkRange chunk) override {
            const auto payload = inner.send(host, op, hop, chunk);
            sent[hop.source_rank] += static_cast<std::int64_t>(payload.size());
            return payload;
          }
          void receive(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
                       std::span<const std::byte> payload) override {
            inner.receive(host, op, hop, chunk, payload);
          }
          CountHandler& inner;
          std::map<int, std::int64_t>& sent;
        } counting(handler, sent);
        interpret(*graph_of(spec), 0, {}, counting);
        INFO(name_of(kind) << ", " << ranks << " ranks, groups of " << group);
        std::int64_t total = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const std::int64_t expected = ranks == 1 ? 0 : bytes_by_formula(spec, rank);
          CHECK(sent[rank] == expected);
          total += expected;
        }
        CHECK(handler.wrong == 0);  // each hop says truly how many workers are in it
        if (kind == CollectiveKind::kTreeAllReduce) CHECK(total == 2 * (ranks - 1) * 4 * 65'520);
        if (group == 4) CHECK(payload_in_flow(spec, {}) == total);
      }
    }
  }
}

TEST_CASE("all-reduce: partial sums fit into the width of their contributors") {
  // j ranks add up to at most 97 (N + (N - 1) + ... ), j terms.
  for (const CollectiveKind kind : kAllReduces) {
    for (const int ranks : {3, 5, 8, 13}) {
      CollectiveSpec spec = reduction(kind, ranks, 200);
      spec.width_bits.clear();
      for (unsigned j = 1, sum = 0; j <= static_cast<unsigned>(ranks); ++j) {
        sum += 97 * (static_cast<unsigned>(ranks) + 1 - j);
        spec.width_bits.push_back(static_cast<std::uint8_t>(std::bit_width(sum)));
      }
      SumHandler handler(spec);
      interpret(*graph_of(spec), 0, {}, handler);
      INFO(name_of(kind) << ", " << ranks << " ranks");
      CHECK(handler.all_summed());
      spec.width_bits.back() = 8;  // full sums cut off: noticed
      SumHandler narrow(spec);
      interpret(*graph_of(spec), 0, {}, narrow);
      CHECK_FALSE(narrow.all_summed());
    }
  }
}

TEST_CASE("all-reduce: no hop may be left out") {
  for (const CollectiveKind kind : kAllReduces) {
    for (const int ranks : {2, 5, 8}) {
      const CollectiveSpec spec = reduction(kind, ranks, 48);
      const GraphPtr graph = graph_of(spec);
      ForgetfulHandler whole(spec, -1);
      interpret(*graph, 0, {}, whole);
      CHECK(whole.all_summed());
      int unnoticed = 0;
      for (int lost = 0; lost < whole.hops(); ++lost) {
        ForgetfulHandler forgetful(spec, lost);
        interpret(*graph, 0, {}, forgetful);
        unnoticed += forgetful.all_summed();
      }
      INFO(name_of(kind) << ", " << ranks << " ranks");
      CHECK(unnoticed == 0);
    }
  }
}

TEST_CASE("all-reduce: sums of floats have the same bits whoever is faster") {
  for (const CollectiveKind kind : kAllReduces) {
    const CollectiveSpec spec = reduction(kind, 7, 500, 4);
    const GraphPtr graph = graph_of(spec);
    FloatHandler memory(spec);
    interpret(*graph, 0, {}, memory);
    for (int host = 1; host < 7; ++host) CHECK(memory.held.at(host) == memory.held.at(0));
    for (int repetition = 0; repetition < 5; ++repetition) {
      FloatHandler threads(spec);
      play_hosts(*graph, {}, 7, threads);
      CHECK(threads.held == memory.held);
    }
  }
}

TEST_CASE("direct all-gather: messages of unequal size, to everybody straight away") {
  for (const int ranks : kSizes) {
    for (const int window : {0, 1, 3}) {
      CollectiveSpec spec = ring_spec(CollectiveKind::kDirectAllGather, ranks, 0);
      spec.window = window;
      std::vector<Bytes> sizes;
      std::vector<std::int64_t> counts;
      std::int64_t total = 0;
      for (int r = 0; r < ranks; ++r) {
        counts.push_back(r == 2 ? 0 : 10 * r + 1);
        sizes.emplace_back(counts.back());
        total += (ranks - 1) * counts.back();
      }
      const GraphPtr graph = graph_of(spec);
      for (const bool threads : {false, true}) {
        MessageHandler handler;
        for (int r = 0; r < ranks; ++r)
          handler.held[r][r] = message_of(r, counts[static_cast<std::size_t>(r)]);
        threads ? play_hosts(*graph, sizes, ranks, handler) : interpret(*graph, 0, sizes, handler);
        int wrong = 0;
        for (int host = 0; host < ranks; ++host) {
          for (int r = 0; r < ranks; ++r) {
            wrong += handler.held[host][r] != message_of(r, counts[static_cast<std::size_t>(r)]);
          }
        }
        CHECK(wrong == 0);
      }
      CHECK(payload_in_flow(spec, counts) == total);
    }
  }
}

TEST_CASE("all-to-all: chunk d of every message comes to rank d") {
  for (const int ranks : kSizes) {
    for (const int window : {0, 1}) {
      CollectiveSpec spec = ring_spec(CollectiveKind::kAllToAll, ranks, 0);
      spec.window = window;
      std::vector<Bytes> sizes;
      std::vector<std::int64_t> counts;
      std::int64_t total = 0;
      for (int r = 0; r < ranks; ++r) {
        counts.push_back(r == 1 ? 2 : 100 + 13 * r);
        sizes.emplace_back(counts.back());
        total += counts.back() - chunk_range(counts.back(), ranks, r).count;
      }
      ExchangeHandler handler(sizes);
      interpret(*graph_of(spec), 0, sizes, handler);
      int wrong = 0;
      for (int d = 0; d < ranks; ++d) {
        for (int r = 0; r < ranks; ++r) {
          if (r == d) continue;
          const ChunkRange chunk = chunk_range(counts[static_cast<std::size_t>(r)], ranks, d);
          const auto begin = handler.own[static_cast<std::size_t>(r)].begin() + chunk.first;
          wrong += handler.got[static_cast<std::size_t>(d)][r] !=
                   std::vector<std::byte>(begin, begin + chunk.count);
        }
      }
      CHECK(wrong == 0);
      CHECK(payload_in_flow(spec, counts) == total);
    }
  }
}

/// Workers below one aggregator each rack, those below a root.
CollectiveSpec in_network(int workers, int racks, std::int64_t elements) {
  const Aggregation tree =
      racks > 0 ? two_tier_aggregation({workers, racks, 1, {}, {}}) : star_aggregation(workers);
  CollectiveSpec spec = ring_spec(CollectiveKind::kInNetworkAllReduce,
                                  static_cast<int>(tree.parent.size()), elements);
  spec.parent = tree.parent;
  return spec;
}

/// Aggregators start with nothing.
class SwitchHandler : public CountHandler {
 public:
  explicit SwitchHandler(const CollectiveSpec& spec) : CountHandler(spec) {
    for (std::size_t r = 0; r < spec.members.size(); ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      if (std::find(spec.parent.begin(), spec.parent.end(), rank) == spec.parent.end()) continue;
      std::fill(held[spec.members[r]].begin(), held[spec.members[r]].end(), 0u);
    }
  }
  std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                  ChunkRange chunk) override {
    const auto payload = CountHandler::send(host, op, hop, chunk);
    sent[host] += static_cast<std::int64_t>(payload.size());
    return payload;
  }
  void receive(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    got[host] += static_cast<std::int64_t>(payload.size());
    CountHandler::receive(host, op, hop, chunk, payload);
  }
  std::map<int, std::int64_t> sent, got;
};

TEST_CASE("in-network: workers send E and receive E, and have the sum") {
  for (const int workers : {1, 2, 3, 5, 6, 13}) {
    for (const int racks : {0, 1, 2}) {
      if (racks > workers) continue;
      for (const std::int64_t elements : {0, 7, 100'003}) {  // 7 chunks of 64 KiB
        CAPTURE(workers, racks, elements);
        const CollectiveSpec spec = in_network(workers, racks, elements);
        SwitchHandler handler(spec);
        interpret(*graph_of(spec), 0, {}, handler);
        CHECK(handler.wrong == 0);
        std::int64_t all = 0;
        for (const auto& [host, bytes] : handler.sent) all += bytes;
        for (int w = 0; w < workers; ++w) {
          const std::vector<std::uint32_t> sum(static_cast<std::size_t>(elements),
                                               static_cast<std::uint32_t>(workers));
          CHECK(handler.held[w] == sum);
          CHECK(handler.sent[w] == 4 * elements);
          CHECK(handler.got[w] == 4 * elements);
        }
        CHECK(total_payload(spec, {}).count() == all);
      }
    }
  }
}

TEST_CASE("in-network: hosts in threads, and partial sums as wide as they must be") {
  CollectiveSpec spec = in_network(5, 2, 1003);
  SwitchHandler threads(spec);
  for (int host = 0; host < 8; ++host) threads.sent[host] = threads.got[host] = 0;
  play_hosts(*graph_of(spec), {}, 8, threads);
  for (int w = 0; w < 5; ++w) CHECK(threads.held[w] == std::vector<std::uint32_t>(1003, 5));
  // 3 and 2 workers a rack: 5 x 8 bits up, 12 + 12 bits to the root, 16 bits down 7 links.
  spec.width_bits = {8, 12, 12, 16, 16};
  CHECK(total_payload(spec, {}).count() == 5 * 1003 + 2 * 1505 + 7 * 2006);
}

TEST_CASE("in-network: a vector's time, not two, and less than a ring's") {
  // 10 MB at 1 Gbps are 0.08497 s on the wire; 64 chunks follow one another, the first of them
  // twice over the link: 65/64, and acknowledgements cost 2.9 % while both directions are busy.
  const double whole = 0.08497;
  const CollectiveSpec spec = in_network(6, 0, 2'500'000);
  const Cluster star = aggregating_star(6, link(1e9, 1e-6));
  CHECK(star.workers() == 6);
  const double flow = seconds("flow", star, spec);
  CHECK(flow == Approx(whole * 65 / 64 * 1.029).epsilon(0.03));
  CHECK(seconds("model", star, spec) == Approx(flow).epsilon(0.05));
  const CollectiveSpec ring = ring_spec(CollectiveKind::kRingAllReduce, 6, 2'500'000);
  CHECK(flow < 0.7 * seconds("flow", star, ring));
  // Two racks whose uplinks are as fast as one worker's link: still about one vector's time.
  const Cluster tiers = aggregating_two_tier({6, 2, 1, link(1e9, 1e-6), link(1e9, 1e-6)});
  CHECK(seconds("flow", tiers, in_network(6, 2, 2'500'000)) < 1.1 * flow);
}

TEST_CASE("in-network: what is no tree is refused") {
  CollectiveSpec spec = in_network(3, 0, 10);
  spec.parent = {3, 3, 3};
  CHECK_THROWS_AS(graph_of(spec), SimError);
  spec.parent = {3, 3, 2, -1};
  CHECK_THROWS_AS(graph_of(spec), SimError);
  spec.parent = {1, -1, 3, -1};
  CHECK_THROWS_AS(graph_of(spec), SimError);
}

TEST_CASE("broadcast: rank 0's message reaches everybody, N - 1 copies in all") {
  for (const int ranks : kSizes) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kTreeBroadcast, ranks, 0);
    std::reverse(spec.members.begin(), spec.members.end());
    const GraphPtr graph = graph_of(spec);
    const std::vector<Bytes> sizes = {Bytes(1000)};
    for (const bool threads : {false, true}) {
      MessageHandler handler;
      for (int host = 0; host < ranks; ++host) handler.held[host];
      handler.held[ranks - 1][0] = message_of(0, 1000);  // the host of rank 0
      threads ? play_hosts(*graph, sizes, ranks, handler) : interpret(*graph, 0, sizes, handler);
      for (int host = 0; host < ranks; ++host) CHECK(handler.held[host][0] == message_of(0, 1000));
    }
    CHECK(payload_in_flow(spec, {1000}) == 1000 * (ranks - 1));
  }
}

TEST_CASE("gossip: every rank has its neighbours' messages and no others") {
  // Ranks on a line, and rank 0 also hears from the last.
  for (const int ranks : {2, 3, 5, 8}) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, ranks, 0);
    std::vector<std::int64_t> counts;
    std::vector<Bytes> sizes;
    for (int r = 0; r < ranks; ++r) {
      spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
      if (r > 0) spec.neighbour.push_back(r - 1);
      if (r + 1 < ranks) spec.neighbour.push_back(r + 1);
      if (r + 1 == ranks && ranks > 2) spec.neighbour.push_back(0);
      counts.push_back(100 + r);
      sizes.emplace_back(100 + r);
    }
    spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
    const GraphPtr graph = graph_of(spec);
    MessageHandler handler;
    for (int r = 0; r < ranks; ++r) handler.held[r][r] = message_of(r, 100 + r);
    play_hosts(*graph, sizes, ranks, handler);
    for (int r = 0; r < ranks; ++r) {
      std::vector<int> expected = {r};
      for (int other = 0; other < ranks; ++other) {
        const bool line = std::abs(r - other) == 1;
        if (line || (ranks > 2 && r == 0 && other == ranks - 1)) expected.push_back(other);
      }
      std::sort(expected.begin(), expected.end());
      std::vector<int> heard;
      for (const auto& [owner, message] : handler.held[r]) heard.push_back(owner);
      CHECK(heard == expected);
    }
    CHECK(run(*make("flow", Cluster::star(ranks, {})), Step(graph, counts)).ops[0].transfers ==
          static_cast<std::int64_t>(spec.neighbour.size()));
  }
}

TEST_CASE("gossip over something that is no graph of ranks is refused") {
  const auto refused = [](std::vector<std::int32_t> begin, std::vector<std::int32_t> neighbour) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, 3, 0);
    spec.neighbour_begin = std::move(begin);
    spec.neighbour = std::move(neighbour);
    CHECK_THROWS_AS(graph_of(spec), SimError);
  };
  refused({}, {});
  refused({0, 1, 2}, {1, 0});
  refused({0, 2, 1, 2}, {1, 0});
  refused({0, 1, 2, 3}, {1, 0, 3});
  refused({0, 1, 2, 3}, {0, 0, 1});
  refused({0, 2, 2, 2}, {1, 1});
}

TEST_CASE("times on a star: broadcast in log N turns, halving-doubling at 2 (N - 1) / N") {
  // 10 MB at 1 Gbps are 10e6 x 1,538 / 1,448 x 8 / 1e9 = 0.08497 s.
  const double whole = 0.08497;
  const Cluster star = Cluster::star(8, link(1e9, 1e-6));
  const CollectiveSpec broadcast = ring_spec(CollectiveKind::kTreeBroadcast, 8, 0);
  CHECK(seconds("flow", star, broadcast, {10'000'000}) == Approx(3 * whole).epsilon(0.03));
  const CollectiveSpec halving = ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 8, 2'500'000);
  CHECK(seconds("flow", star, halving) == Approx(1.75 * whole * 1.029).epsilon(0.03));
  const CollectiveSpec tree = ring_spec(CollectiveKind::kTreeAllReduce, 8, 2'500'000);
  CHECK(seconds("flow", star, tree) == Approx(6 * whole).epsilon(0.05));
  // Every rank gives and takes 7/8 of 10 MB at once.
  const CollectiveSpec exchange = ring_spec(CollectiveKind::kAllToAll, 8, 0);
  CHECK(seconds("flow", star, exchange, std::vector<std::int64_t>(8, 10'000'000)) ==
        Approx(0.875 * whole * 1.029).epsilon(0.03));
}

TEST_CASE("two levels pay where links inside a machine are fast") {
  const Cluster cluster = gpu_nodes({16, 4, 1, link(1e11, 1e-6), link(1e9, 1e-5)});
  const CollectiveSpec two = reduction(CollectiveKind::kTwoLevelAllReduce, 16, 2'500'000, 4);
  CollectiveSpec in_order = two;
  std::reverse(in_order.members.begin(), in_order.members.end());
  const CollectiveSpec halving =
      ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 16, 2'500'000);
  CHECK(seconds("flow", cluster, in_order) < 0.5 * seconds("flow", cluster, halving));
}

TEST_CASE("model and flow agree on the collectives where nobody is in the way") {
  const Cluster star = Cluster::star(8, link(1e9, 5e-5));
  const auto compare = [&](CollectiveSpec spec, const std::vector<std::int64_t>& sizes) {
    spec.group = 4;
    const double flow = seconds("flow", star, spec, sizes);
    INFO(name_of(spec.kind));
    CHECK(seconds("model", star, spec, sizes) == Approx(flow).epsilon(0.06));
    const Timeline t = run(*make("model", star), Step(graph_of(spec), sizes));
    CHECK(t.ops[0].payload.count() == payload_in_flow(spec, sizes));
    CHECK(t.ops[0].transfers ==
          run(*make("flow", star), Step(graph_of(spec), sizes)).ops[0].transfers);
  };
  compare(ring_spec(CollectiveKind::kTreeAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kTwoLevelAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kTreeBroadcast, 8, 0), {10'000'000});
  compare(ring_spec(CollectiveKind::kAllToAll, 8, 0), std::vector<std::int64_t>(8, 10'000'000));
  compare(ring_spec(CollectiveKind::kDirectAllGather, 8, 0),
          std::vector<std::int64_t>(8, 5'000'000));
}

TEST_CASE("hops may need time to be added, and ranks may come late") {
  for (const CollectiveKind kind : kAllReduces) {
    CollectiveSpec spec = reduction(kind, 5, 100'000, 2);
    spec.hop_per_element = Seconds(1e-7);
    GraphBuilder builder;
    const OpIndex late = builder.add_operation(OpKind::kCompute, Lane::kCompute, 2, "late");
    builder.add_collective(spec, "all-reduce", std::vector<OpIndex>{late});
    const Step step(builder.finish(), {}, {0.5, 0});
    const Timeline t = run(*make("flow", Cluster::star(5, {})), step);
    INFO(name_of(kind));
    for (const Seconds done : t.rank_done[0]) CHECK(done.value() > 0.5);
    CHECK(t.end.value() < 0.6);
  }
}

TEST_CASE("the payload of rings is known beforehand, at any width") {
  for (const int ranks : {1, 2, 5, 8}) {
    for (const CollectiveKind kind :
         {CollectiveKind::kRingAllReduce, CollectiveKind::kRingReduceScatter}) {
      CollectiveSpec spec = ring_spec(kind, ranks, 1003);
      spec.width_bits = {3, 5, 9};
      payload_in_flow(spec, {});
    }
    payload_in_flow(ring_spec(CollectiveKind::kRingAllGather, ranks, 0),
                    std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 77));
  }
}

TEST_CASE("who sends to whom is known beforehand") {
  for (const CollectiveKind kind :
       {CollectiveKind::kRingAllReduce, CollectiveKind::kTreeAllReduce,
        CollectiveKind::kHalvingDoublingAllReduce, CollectiveKind::kTwoLevelAllReduce}) {
    const CollectiveSpec spec = ring_spec(kind, 11, 44);
    struct Pairs : CountHandler {
      using CountHandler::CountHandler;
      std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                      ChunkRange chunk) override {
        seen[hop.source_rank].insert(hop.destination_rank);
        return CountHandler::send(host, op, hop, chunk);
      }
      std::map<int, std::set<std::int32_t>> seen;
    } pairs(spec);
    interpret(*graph_of(spec), 0, {}, pairs);
    for (int rank = 0; rank < 11; ++rank) {
      const std::vector<std::int32_t> known = destinations_of(spec, rank);
      CHECK(std::set<std::int32_t>(known.begin(), known.end()) == pairs.seen[rank]);
    }
    CHECK(destinations_of(spec, -1).empty());
  }
}
