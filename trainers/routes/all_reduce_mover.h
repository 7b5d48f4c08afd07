#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "sim/graph/interpreter.h"
#include "trainers/routes/movers.h"

namespace gradwire::trainers {

/// One bucket's all-reduce, of any kind. Hosts add packed partial sums into their terms; whoever
/// has finished a part rounds its own copy as it packs it. Which elements a hop carries is
/// sim::hop_range's to say.
///
/// What does not arrive is not added on the way up, and on the way down counts as a sum of zero for
/// whoever misses it and for those it sends on to.
///
/// Round a ring and down a tree a host sends on the very bytes that it got. Elsewhere a hop joins
/// parts that came apart, and the host packs them again: packing what was packed changes no bit.
class AllReduceMover final : public sim::DataHandler {
 public:
  /// `terms[w]`: worker w's terms of the bucket, replaced by the sum on the first `replicas`
  /// workers (the others may end with partial sums: nobody reads them). They and `codec` must
  /// outlive the mover. `spec` says how many aggregators there are beyond the workers: they have
  /// sums only.
  AllReduceMover(const compressors::SumTerms& codec, const sim::CollectiveSpec& spec,
                 std::vector<std::span<std::uint32_t>> terms, int replicas);

  Message send(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange chunk) override;
  void receive(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange chunk,
               Message payload) override;
  void receive_partial(int host, sim::OpIndex, const sim::HopTransfer& hop, sim::ChunkRange chunk,
                       Message payload, std::span<const sim::ByteRange> missing) override;

 private:
  std::span<std::uint32_t> part_of(std::size_t host, sim::ChunkRange chunk) const {
    return terms_[host].subspan(static_cast<std::size_t>(chunk.first),
                                static_cast<std::size_t>(chunk.count));
  }
  /// Whether the aggregator had a term of that block before; from now on it has.
  bool begin(std::size_t aggregator, int block);
  std::span<std::byte> region(std::size_t host, sim::ChunkRange chunk, int block, int contributors);

  const compressors::SumTerms& codec_;
  std::size_t workers_;
  bool forwards_;  ///< finished parts travel as they were packed once
  std::vector<std::span<std::uint32_t>> terms_;
  int replicas_;
  std::vector<std::vector<std::uint32_t>> sums_;  ///< [aggregator]
  std::vector<std::vector<bool>> begun_;          ///< [aggregator][block]: it has a first term
  int width_ = 0;                                 ///< bits of the widest sum
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::vector<Message>> finished_;        ///< [host][block], where hosts forward
  std::map<std::pair<std::size_t, int>, Gaps> gaps_;  ///< [host, block]: of what is finished
};

}  // namespace gradwire::trainers
