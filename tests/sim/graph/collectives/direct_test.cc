#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

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

}  // namespace

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
