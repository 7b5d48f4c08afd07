// The interpreter moves real data: vectors in memory, then one thread a host over a wire.
#include "sim/graph/interpreter.h"

#include "tests/sim/handlers.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("ring all-reduce: every rank ends with the sum, for any size") {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    for (const std::int64_t elements : {0, 1, 3, 8, 17, 1000, 1003}) {
      CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllReduce, ranks, elements);
      std::reverse(spec.members.begin(), spec.members.end());  // ranks are not hosts
      const GraphPtr graph = graph_of(spec);
      SumHandler memory(spec);
      interpret(*graph, 0, {}, memory);
      CHECK(memory.all_summed());
      SumHandler threads(spec);
      play_hosts(*graph, {}, ranks, threads);
      CHECK(threads.all_summed());
      CHECK(threads.sent == memory.sent);
      // A rank sends on 2(N-1) hops every chunk but one of them in each half: in all
      // 2 (N-1) E x 4 B over all ranks, and 2 (N-1) / N of that each, to within one chunk's
      // rounding.
      std::int64_t total = 0;
      for (const auto& [host, bytes] : memory.sent) {
        total += bytes;
        CHECK(std::abs(bytes - 8.0 * (ranks - 1) * static_cast<double>(elements) / ranks) <= 8);
      }
      CHECK(total == 2 * (ranks - 1) * elements * 4);
    }
  }
}

TEST_CASE("a handler that forgets to add is caught") {
  const CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllReduce, 4, 100);
  SumHandler broken(spec, false);
  interpret(*graph_of(spec), 0, {}, broken);
  CHECK_FALSE(broken.all_summed());
}

TEST_CASE("reduce-scatter: rank r ends with the sum of chunk r + 1") {
  // On its last hop, N - 2, rank r - 1 sends chunk (r - 1 - (N - 2)) mod N = (r + 1) mod N to r.
  for (const int ranks : {2, 3, 5, 8}) {
    const std::int64_t elements = 101;
    const CollectiveSpec spec = ring_spec(CollectiveKind::kRingReduceScatter, ranks, elements);
    SumHandler handler(spec);
    interpret(*graph_of(spec), 0, {}, handler);
    std::int64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
      const ChunkRange chunk = chunk_range(elements, ranks, (r + 1) % ranks);
      for (std::int64_t e = chunk.first; e < chunk.first + chunk.count; ++e) {
        CHECK(handler.values.at(r)[static_cast<std::size_t>(e)] ==
              handler.expected(static_cast<std::size_t>(e)));
      }
      total += handler.sent.at(r);
    }
    CHECK(total == (ranks - 1) * elements * 4);
  }
}

TEST_CASE("partial sums widen on their way, and the bytes are the packed ones") {
  // Values up to 97 x 4 need 7 bits (rank 1: 97), partial sums of 2 up to 97 x (3 + 4) = 679: 10
  // bits, of 3 up to 873: 10, the full sum 970: 10. E = 40 over 4 ranks: chunks of 10 elements. Hop
  // 0: 9 bits = 90 bits = 12 B; hops 1-5: 10 bits = 100 bits = 13 B. Each rank: 12 + 5 x 13 = 77 B.
  CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllReduce, 4, 40);
  spec.width_bits = {9, 10, 10, 10};
  SumHandler handler(spec);
  interpret(*graph_of(spec), 0, {}, handler);
  CHECK(handler.all_summed());
  for (const auto& [host, bytes] : handler.sent) CHECK(bytes == 77);
  // The executors charge the same.
  GraphBuilder builder;
  builder.add_collective(spec, "sum");
  const Timeline t = run(*make("flow", Cluster::star(4, {})), Step(builder.finish(), {}));
  CHECK(t.ops[0].payload == Bytes(4 * 77));
}

TEST_CASE("ring all-gather of messages of unequal size") {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    const CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllGather, ranks, 0);
    const GraphPtr graph = graph_of(spec);
    std::vector<Bytes> sizes;
    for (int r = 0; r < ranks; ++r) sizes.emplace_back(r == 2 ? 0 : 10 * r + 1);
    for (const bool threads : {false, true}) {
      MessageHandler handler;
      for (int r = 0; r < ranks; ++r) {
        handler.held[r][r] = message_of(r, sizes[static_cast<std::size_t>(r)].count());
      }
      if (threads) {
        play_hosts(*graph, sizes, ranks, handler);
      } else {
        interpret(*graph, 0, sizes, handler);
      }
      for (int host = 0; host < ranks; ++host) {
        for (int r = 0; r < ranks; ++r) {
          CHECK(handler.held[host][r] == message_of(r, sizes[static_cast<std::size_t>(r)].count()));
        }
      }
    }
  }
}

TEST_CASE("push and pull through a server") {
  CollectiveSpec spec = ring_spec(CollectiveKind::kPush, 3, 0);
  spec.server = 3;
  GraphBuilder builder;
  const OpIndex push = builder.add_collective(spec, "push");
  spec.kind = CollectiveKind::kPull;
  builder.add_collective(spec, "pull", std::vector<OpIndex>{push});
  const GraphPtr graph = builder.finish();
  const std::vector<Bytes> sizes = {Bytes(10), Bytes(20), Bytes(30),   // push
                                    Bytes(10), Bytes(20), Bytes(30)};  // pull
  MessageHandler handler;
  for (int r = 0; r < 3; ++r) handler.held[r][r] = message_of(r, 10 * (r + 1));
  handler.held[3];
  play_hosts(*graph, sizes, 4, handler);
  for (int r = 0; r < 3; ++r) {
    CHECK(handler.held[3][r] == message_of(r, 10 * (r + 1)));
    CHECK(handler.held[r].size() == 1);
  }
  // In virtual time the pull waits for the push: the server sends when all messages are there.
  const Timeline t =
      run(*make("flow", Cluster::star(3, {}, true)), Step(graph, {10, 20, 30, 10, 20, 30}));
  CHECK(t.ops[1].start == t.ops[0].end);
  CHECK(t.ops[0].payload == Bytes(60));
}

TEST_CASE("a plain transfer moves its ranges") {
  GraphBuilder builder;
  builder.add_transfer(1, 0, "move", {{5, 2}, {7, 2}, Action::kAdd, 0});
  const GraphPtr graph = builder.finish();
  struct Recorder : DataHandler {
    std::vector<std::byte> data{std::byte{1}, std::byte{2}};
    ChunkRange from, to;
    bool reduce = false;
    std::span<const std::byte> send(int host, OpIndex, const HopTransfer&, ChunkRange c) override {
      CHECK(host == 1);
      from = c;
      return data;
    }
    void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange c,
                 std::span<const std::byte> payload) override {
      CHECK(host == 0);
      CHECK(payload.size() == 2);
      to = c;
      reduce = hop.reduce;
    }
  };
  const std::vector<Bytes> sizes = {Bytes(2)};
  for (const bool threads : {false, true}) {
    Recorder recorder;
    if (threads) {
      play_hosts(*graph, sizes, 2, recorder);
    } else {
      interpret(*graph, 0, sizes, recorder);
    }
    CHECK(recorder.from.first == 5);
    CHECK(recorder.to.first == 7);
    CHECK(recorder.reduce);
  }
}
