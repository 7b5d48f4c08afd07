#include "trainers/routes/all_reduce_mover.h"

#include "trainers/routes/sum_gaps.h"

namespace gradwire::trainers {
namespace {

bool forwards_whole_parts(sim::CollectiveKind kind) {
  using sim::CollectiveKind;
  return kind == CollectiveKind::kRingAllReduce || kind == CollectiveKind::kRingReduceScatter ||
         kind == CollectiveKind::kTreeAllReduce;
}

}  // namespace

AllReduceMover::AllReduceMover(const compressors::SumTerms& codec, const sim::CollectiveSpec& spec,
                               std::vector<std::span<std::uint32_t>> terms, int replicas)
    : codec_(codec),
      workers_(terms.size()),
      forwards_(forwards_whole_parts(spec.kind)),
      terms_(std::move(terms)),
      replicas_(replicas),
      sums_(spec.members.size() - workers_, std::vector<std::uint32_t>(terms_[0].size())),
      begun_(sums_.size()),
      buffers_(spec.members.size()),
      finished_(forwards_ ? workers_ : 0, std::vector<Message>(workers_)) {
  for (auto& sum : sums_) terms_.emplace_back(sum);
  // A host sends a block once as a partial sum or once as its own finished part: with a region for
  // each block it never overwrites what is still to be forwarded.
  const std::size_t n = terms_[0].size();
  width_ = codec_.width_bits(static_cast<int>(workers_));
  for (auto& buffer : buffers_)
    buffer.resize(n * static_cast<std::size_t>(width_) / 8 + 2 * workers_ + 2);
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

void AllReduceMover::receive(int host, sim::OpIndex op, const sim::HopTransfer& hop,
                             sim::ChunkRange chunk, Message payload) {
  receive_partial(host, op, hop, chunk, payload, {});
}

void AllReduceMover::receive_partial(int host, sim::OpIndex, const sim::HopTransfer& hop,
                                     sim::ChunkRange chunk, Message payload,
                                     std::span<const sim::ByteRange> missing) {
  const auto h = static_cast<std::size_t>(host);
  Received packed{payload, {missing.begin(), missing.end()}};
  const auto part = part_of(h, chunk);
  if (hop.reduce && h >= workers_ && !begin(h - workers_, hop.block))
    return store_arrived(codec_, packed, hop.contributors, part);
  if (hop.reduce) return add_arrived(codec_, packed, hop.contributors, part);
  if (forwards_) {
    const auto sent = gaps_.find({static_cast<std::size_t>(hop.source_rank), hop.block});
    if (sent != gaps_.end()) packed.gaps = joined(packed.gaps, sent->second);
    if (!packed.gaps.empty()) gaps_[{h, hop.block}] = packed.gaps;
    finished_[h][static_cast<std::size_t>(hop.block)] = payload;
  }
  if (!forwards_ || host < replicas_) store_arrived(codec_, packed, hop.contributors, part);
}

bool AllReduceMover::begin(std::size_t aggregator, int block) {
  std::vector<bool>& begun = begun_[aggregator];
  if (begun.size() <= static_cast<std::size_t>(block))
    begun.resize(static_cast<std::size_t>(block) + 1);
  const bool before = begun[static_cast<std::size_t>(block)];
  begun[static_cast<std::size_t>(block)] = true;
  return before;
}

std::span<std::byte> AllReduceMover::region(std::size_t host, sim::ChunkRange chunk, int block,
                                            int contributors) {
  const std::size_t first =
      forwards_ ? static_cast<std::size_t>(chunk.first * width_ / 8 + 2 * block) : 0;
  const auto n = static_cast<std::size_t>(chunk.count);
  return std::span(buffers_[host]).subspan(first, codec_.packed_size(n, contributors));
}

}  // namespace gradwire::trainers
