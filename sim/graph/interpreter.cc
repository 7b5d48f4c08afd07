#include "sim/graph/interpreter.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/error.h"
#include "sim/graph/graph_index.h"

namespace gradwire::sim {
namespace {

/// One operation of a graph, seen as hops between hosts; a plain transfer is one hop from rank 0 to
/// rank 1.
class Operation {
 public:
  Operation(const GraphTemplate& graph, OpIndex op, std::span<const Bytes> bytes)
      : graph_(graph), op_(op) {
    GRADWIRE_ASSERT(op < graph.size());
    const std::size_t first = graph.bytes_begin[op];
    const std::size_t slots = graph.bytes_begin[op + 1] - first;
    // The caller gives either the whole step's sizes or this operation's own.
    GRADWIRE_ASSERT(bytes.size() == slots || bytes.size() == graph.bytes_begin.back());
    bytes_ = bytes.size() == slots ? bytes : bytes.subspan(first, slots);
    GRADWIRE_ASSERT(collective() || graph.kind[op] == OpKind::kTransfer);
  }

  bool collective() const { return graph_.kind[op_] == OpKind::kCollective; }
  OpIndex op() const { return op_; }
  std::span<const Bytes> bytes() const { return bytes_; }
  const CollectiveSpec& spec() const {
    return graph_.collectives[static_cast<std::size_t>(graph_.peer[op_])];
  }

  int host(int rank) const {
    if (!collective()) return rank == 0 ? graph_.worker[op_] : graph_.peer[op_];
    return rank < 0 ? spec().server : spec().members[static_cast<std::size_t>(rank)];
  }
  HopTransfer single_hop() const {
    HopTransfer hop;
    hop.destination_rank = 1;
    hop.bytes = bytes_[0];
    hop.reduce = graph_.meaning[op_].action != Action::kStore;
    return hop;
  }
  ChunkRange chunk_sent(const HopTransfer& hop) const {
    if (!collective()) return {graph_.meaning[op_].source.first, graph_.meaning[op_].source.count};
    return chunk(hop);
  }
  ChunkRange chunk_received(const HopTransfer& hop) const {
    if (collective()) return chunk(hop);
    return {graph_.meaning[op_].destination.first, graph_.meaning[op_].destination.count};
  }

 private:
  ChunkRange chunk(const HopTransfer& hop) const {
    const bool cut = spec().kind == CollectiveKind::kAllToAll;
    return hop_range(spec(), hop,
                     cut ? bytes_[static_cast<std::size_t>(hop.source_rank)] : Bytes(0));
  }

  const GraphTemplate& graph_;
  OpIndex op_;
  std::span<const Bytes> bytes_;
};

std::span<const std::byte> payload_of(const Operation& operation, const HopTransfer& hop,
                                      DataHandler& handler) {
  const std::span<const std::byte> payload =
      handler.send(operation.host(hop.source_rank), operation.op(), hop, operation.chunk_sent(hop));
  GRADWIRE_ASSERT(static_cast<std::int64_t>(payload.size()) == hop.bytes.count());
  return payload;
}

/// What has not arrived of one operation's hops.
class Missing {
 public:
  Missing(OpIndex op, std::span<const MissingData> missing) {
    for (const MissingData& each : missing) {
      if (each.op == op) ranges_[key(each.hop)] = each.ranges;
    }
  }
  std::span<const ByteRange> of(const HopTransfer& hop) const {
    const auto found = ranges_.find(key(hop));
    return found == ranges_.end() ? std::span<const ByteRange>() : found->second;
  }

 private:
  using Key = std::array<std::int32_t, 4>;
  static Key key(const HopTransfer& hop) {
    return {hop.source_rank, hop.destination_rank, hop.hop, hop.block};
  }
  std::map<Key, std::span<const ByteRange>> ranges_;
};

void deliver(const Operation& operation, const HopTransfer& hop, std::span<const std::byte> payload,
             DataHandler& handler, std::span<const ByteRange> missing = {}) {
  const int host = operation.host(hop.destination_rank);
  if (missing.empty()) {
    handler.receive(host, operation.op(), hop, operation.chunk_received(hop), payload);
  } else {
    handler.receive_partial(host, operation.op(), hop, operation.chunk_received(hop), payload,
                            missing);
  }
}

}  // namespace

void DataHandler::receive_partial(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
                                  std::span<const std::byte> payload,
                                  std::span<const ByteRange> missing) {
  std::vector<std::byte> arrived(payload.begin(), payload.end());
  for (const ByteRange& range : missing) {
    GRADWIRE_ASSERT(range.first >= 0 && range.first + range.count <= std::ssize(arrived));
    std::fill_n(arrived.begin() + range.first, range.count, std::byte{0});
  }
  receive(host, op, hop, chunk, arrived);
}

void interpret(const GraphTemplate& graph, OpIndex op, std::span<const Bytes> bytes,
               DataHandler& handler, std::span<const MissingData> missing) {
  const Operation operation(graph, op, bytes);
  const Missing lost(op, missing);
  if (!operation.collective()) {
    const HopTransfer hop = operation.single_hop();
    // The session knows a plain transfer as a hop of no ranks.
    deliver(operation, hop, payload_of(operation, hop, handler), handler, lost.of(HopTransfer{}));
    return;
  }
  const std::unique_ptr<CollectiveGenerator> generator =
      make_generator(operation.spec(), operation.bytes());
  std::vector<HopTransfer> emitted;
  const auto ranks = static_cast<int>(operation.spec().members.size());
  for (int rank = has_server(operation.spec()) ? -1 : 0; rank < ranks; ++rank) {
    generator->on_ready(rank, emitted);
  }
  // Grows while it is read. A hop whose turn at its destination is still to come stands behind.
  std::size_t delivered = 0, passed_over = 0;
  for (std::size_t i = 0; i < emitted.size(); ++i) {
    const HopTransfer hop = emitted[i];
    if (!generator->expects(hop)) {
      GRADWIRE_ASSERT(passed_over++ < emitted.size() - i);  // somebody's turn it must be
      emitted.push_back(hop);
      continue;
    }
    passed_over = 0;
    deliver(operation, hop, payload_of(operation, hop, handler), handler, lost.of(hop));
    ++delivered;
    generator->on_delivered(hop, emitted);
    if (generator->wants_sent()) generator->on_sent(hop, emitted);
  }
  GRADWIRE_ASSERT(static_cast<std::int64_t>(delivered) == generator->transfers_total());
}

void interpret_host(const GraphTemplate& graph, OpIndex op, std::span<const Bytes> bytes, int host,
                    DataHandler& handler, Wire& wire) {
  const Operation operation(graph, op, bytes);
  const auto send = [&](const HopTransfer& hop) {
    wire.send(operation.host(hop.destination_rank), op, hop, payload_of(operation, hop, handler));
  };
  if (!operation.collective()) {
    if (operation.host(0) == host) send(operation.single_hop());
    if (operation.host(1) != host) return;
    const WireMessage message = wire.receive(op);
    deliver(operation, message.hop, message.payload, handler);
    return;
  }
  const int found = rank_of(operation.spec(), host);
  if (found < 0) return;  // takes no part
  const int rank = found == static_cast<int>(operation.spec().members.size()) ? -1 : found;
  const std::unique_ptr<CollectiveGenerator> generator =
      make_generator(operation.spec(), operation.bytes());
  std::vector<HopTransfer> emitted;
  generator->on_ready(rank, emitted);
  std::vector<WireMessage> early;  // whose turn is still to come
  const auto send_all = [&] {
    for (std::size_t i = 0; i < emitted.size(); ++i) {  // grows while it is read
      const HopTransfer hop = emitted[i];
      send(hop);
      if (generator->wants_sent()) generator->on_sent(hop, emitted);
    }
    emitted.clear();
  };
  send_all();
  for (std::int64_t awaited = generator->incoming(rank); awaited > 0; --awaited) {
    const auto turn = [&](const WireMessage& message) { return generator->expects(message.hop); };
    auto next = std::find_if(early.begin(), early.end(), turn);
    while (next == early.end()) {
      early.push_back(wire.receive(op));
      GRADWIRE_ASSERT(early.back().hop.destination_rank == rank);
      next = turn(early.back()) ? std::prev(early.end()) : early.end();
    }
    const WireMessage message = std::move(*next);
    early.erase(next);
    deliver(operation, message.hop, message.payload, handler);
    generator->on_delivered(message.hop, emitted);
    send_all();
  }
}

}  // namespace gradwire::sim
