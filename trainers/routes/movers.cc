#include "trainers/routes/movers.h"

#include "base/error.h"

namespace gradwire::trainers {

GatherMover::GatherMover(std::vector<Message> own)
    : received_(own.size(), std::vector<Received>(own.size())) {
  for (std::size_t rank = 0; rank < own.size(); ++rank) received_[rank][rank].bytes = own[rank];
}

Message GatherMover::send(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange) {
  return received_[static_cast<std::size_t>(host)][static_cast<std::size_t>(hop.block)].bytes;
}

void GatherMover::receive(int host, sim::OpIndex op, const sim::HopTransfer& hop,
                          sim::ChunkRange chunk, Message payload) {
  receive_partial(host, op, hop, chunk, payload, {});
}

void GatherMover::receive_partial(int host, sim::OpIndex, const sim::HopTransfer& hop,
                                  sim::ChunkRange, Message payload,
                                  std::span<const sim::ByteRange> missing) {
  const auto block = static_cast<std::size_t>(hop.block);
  const Gaps& sent = received_[static_cast<std::size_t>(hop.source_rank)][block].gaps;
  received_[static_cast<std::size_t>(host)][block] = {payload, joined(missing, sent)};
}

ServerMover::ServerMover(std::vector<Message> messages)
    : messages_(std::move(messages)), received_(messages_.size()) {}

Message ServerMover::send(int, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange) {
  return messages_[static_cast<std::size_t>(hop.block)];
}

void ServerMover::receive(int, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
                          Message payload) {
  received_[static_cast<std::size_t>(hop.block)] = {payload};
}

void ServerMover::receive_partial(int, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange,
                                  Message payload, std::span<const sim::ByteRange> missing) {
  received_[static_cast<std::size_t>(hop.block)] = {payload, {missing.begin(), missing.end()}};
}

std::vector<Bytes> sizes_of(std::span<const Message> messages) {
  std::vector<Bytes> sizes;
  for (const Message& message : messages) {
    sizes.emplace_back(static_cast<std::int64_t>(message.size()));
  }
  return sizes;
}

sim::CollectiveSpec collective_spec(sim::CollectiveKind kind, int workers, std::int64_t elements,
                                    std::size_t bucket) {
  sim::CollectiveSpec spec;
  spec.kind = kind;
  for (int w = 0; w < workers; ++w) spec.members.push_back(w);
  if (kind->has_server()) spec.server = workers;
  spec.elements = elements;
  spec.buffer = static_cast<std::int32_t>(bucket);
  return spec;
}

}  // namespace gradwire::trainers
