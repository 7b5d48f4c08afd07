#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "sim/interpreter.h"
#include "trainers/movers.h"

namespace gradwire::trainers {

/// One bucket's ring all-reduce. Hosts add packed partial sums into their terms; the owner of a
/// finished chunk rounds its own copy as it packs it, and everybody else forwards those very bytes.
class RingReduction final : public sim::DataHandler {
 public:
  /// `terms[h]`: host h's terms of the bucket, replaced by the sum on the first `replicas` hosts
  /// (the others end with partial sums: nobody reads them).
  RingReduction(const compressors::SumTerms& codec, std::vector<std::span<std::uint32_t>> terms,
                int replicas)
      : codec_(codec),
        terms_(std::move(terms)),
        replicas_(replicas),
        buffers_(terms_.size()),
        received_(terms_.size(), std::vector<Message>(terms_.size())) {
    // Each host sends each chunk once at most, so a region a chunk never overwrites what travels.
    const auto n = static_cast<std::int64_t>(terms_[0].size());
    width_ = codec_.width_bits(ranks());
    for (auto& buffer : buffers_) {
      buffer.resize(static_cast<std::size_t>(n * width_ / 8 + 2 * ranks()));
    }
  }

  Message send(int host, sim::OpIndex, const sim::HopTransfer& hop,
               sim::ChunkRange chunk) override {
    const auto h = static_cast<std::size_t>(host), block = static_cast<std::size_t>(hop.block);
    if (!hop.reduce && !received_[h][block].empty()) return received_[h][block];
    const std::span<std::byte> out = region(h, chunk, hop.block, hop.contributors);
    const std::span<std::uint32_t> part = part_of(h, chunk);
    codec_.pack(part, hop.contributors, out);
    if (!hop.reduce && host < replicas_) codec_.round_as_packed(part, hop.contributors);
    return out;
  }

  void receive(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange chunk,
               Message payload) override {
    const auto h = static_cast<std::size_t>(host);
    if (hop.reduce) {
      codec_.unpack_add(payload, hop.contributors, part_of(h, chunk));
      return;
    }
    received_[h][static_cast<std::size_t>(hop.block)] = payload;
    if (host < replicas_) codec_.unpack_store(payload, hop.contributors, part_of(h, chunk));
  }

 private:
  int ranks() const { return static_cast<int>(terms_.size()); }
  std::span<std::uint32_t> part_of(std::size_t host, sim::ChunkRange chunk) const {
    return terms_[host].subspan(static_cast<std::size_t>(chunk.first),
                                static_cast<std::size_t>(chunk.count));
  }
  std::span<std::byte> region(std::size_t host, sim::ChunkRange chunk, int block,
                              int contributors) {
    const auto first = static_cast<std::size_t>(chunk.first * width_ / 8 + 2 * block);
    const auto n = static_cast<std::size_t>(chunk.count);
    return std::span(buffers_[host]).subspan(first, codec_.packed_size(n, contributors));
  }

  const compressors::SumTerms& codec_;
  std::vector<std::span<std::uint32_t>> terms_;
  int replicas_;
  int width_ = 0;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::vector<Message>> received_;  ///< [host][chunk], finished chunks
};

}  // namespace gradwire::trainers
