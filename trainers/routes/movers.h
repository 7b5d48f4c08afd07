#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "sim/graph/interpreter.h"
#include "trainers/routes/gaps.h"

/// What exchanges do when the interpreter moves whole messages from host to host.
namespace gradwire::trainers {

using Message = std::span<const std::byte>;

/// A message as a host has it. Its bytes are as sent; those in gaps nobody may use.
struct Received {
  Message bytes;
  Gaps gaps = {};
};

/// All-gather: each host passes on what it received, gaps too. Afterwards received(h)[r] is rank
/// r's message as host h has it.
class GatherMover final : public sim::DataHandler {
 public:
  explicit GatherMover(std::vector<Message> own);
  Message send(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange) override;
  void receive(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
               Message payload) override;
  void receive_partial(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
                       Message payload, std::span<const sim::ByteRange> missing) override;
  std::span<const Received> received(int host) const {
    return received_[static_cast<std::size_t>(host)];
  }

 private:
  std::vector<std::vector<Received>> received_;
};

/// Push: received()[r] is rank r's message as the server has it. Pull: as rank r has it from the
/// server.
class ServerMover final : public sim::DataHandler {
 public:
  /// By rank: what it sends (push), or what the server sends it (pull).
  explicit ServerMover(std::vector<Message> messages);
  Message send(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange) override;
  void receive(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
               Message payload) override;
  void receive_partial(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
                       Message payload, std::span<const sim::ByteRange> missing) override;
  std::span<const Received> received() const { return received_; }

 private:
  std::vector<Message> messages_;
  std::vector<Received> received_;
};

/// Sizes of messages, as a step's bytes[] takes them.
std::vector<Bytes> sizes_of(std::span<const Message> messages);

/// The collectives of exchanges, hosts 0..workers-1 (the server is host `workers`).
sim::CollectiveSpec collective_spec(sim::CollectiveKind kind, int workers, std::int64_t elements,
                                    std::size_t bucket);

}  // namespace gradwire::trainers
