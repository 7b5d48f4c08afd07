#include "trainers/all_reduce_mover.h"

namespace gradwire::trainers {
namespace {

bool forwards_whole_parts(sim::CollectiveKind kind) {
  return kind == sim::CollectiveKind::kRingAllReduce || kind == sim::CollectiveKind::kTreeAllReduce;
}

}  // namespace

AllReduceMover::AllReduceMover(const compressors::SumTerms& codec, sim::CollectiveKind kind,
                               std::vector<std::span<std::uint32_t>> terms, int replicas)
    : codec_(codec),
      forwards_(forwards_whole_parts(kind)),
      terms_(std::move(terms)),
      replicas_(replicas),
      buffers_(terms_.size()),
      finished_(forwards_ ? terms_.size() : 0, std::vector<Message>(terms_.size())) {
  // A host sends a block once as a partial sum or once as its own finished part: with a region for
  // each block it never overwrites what is still to be forwarded.
  const auto ranks = static_cast<int>(terms_.size());
  const std::size_t n = terms_[0].size();
  width_ = codec_.width_bits(ranks);
  for (auto& buffer : buffers_)
    buffer.resize(n * static_cast<std::size_t>(width_) / 8 + 2 * terms_.size());
}

Message AllReduceMover::send(int host, sim::OpIndex, const sim::HopTransfer& hop,
                             sim::ChunkRange chunk) {
  const auto h = static_cast<std::size_t>(host), block = static_cast<std::size_t>(hop.block);
  if (forwards_ && !hop.reduce && !finished_[h][block].empty()) return finished_[h][block];
  const std::span<std::byte> out = region(h, chunk, hop.block, hop.contributors);
  const std::span<std::uint32_t> part = part_of(h, chunk);
  codec_.pack(part, hop.contributors, out);
  if (hop.reduce) return out;
  if (host < replicas_) codec_.round_as_packed(part, hop.contributors);
  if (forwards_) finished_[h][block] = out;
  return out;
}

void AllReduceMover::receive(int host, sim::OpIndex, const sim::HopTransfer& hop,
                             sim::ChunkRange chunk, Message payload) {
  const auto h = static_cast<std::size_t>(host);
  if (hop.reduce) {
    codec_.unpack_add(payload, hop.contributors, part_of(h, chunk));
    return;
  }
  if (forwards_) finished_[h][static_cast<std::size_t>(hop.block)] = payload;
  if (!forwards_ || host < replicas_)
    codec_.unpack_store(payload, hop.contributors, part_of(h, chunk));
}

std::span<std::byte> AllReduceMover::region(std::size_t host, sim::ChunkRange chunk, int block,
                                            int contributors) {
  const auto first =
      static_cast<std::size_t>(chunk.first * width_ / 8) + 2 * static_cast<std::size_t>(block);
  const auto n = static_cast<std::size_t>(chunk.count);
  return std::span(buffers_[host]).subspan(first, codec_.packed_size(n, contributors));
}

}  // namespace gradwire::trainers
