#include <bit>
#include <cmath>

#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

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
