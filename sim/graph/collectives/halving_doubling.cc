// Rabenseifner, "Optimization of collective reduction operations" (2004): reduce-scatter by
// recursive halving, all-gather by recursive doubling.
//
// P = the largest power of two <= N, rem = N - P. Of the first 2 rem ranks the even ones hand their
// vector to the next rank (hop 0) and get the result from it at the end (hop 2 L + 1); the P ranks
// that remain are numbered q. The vector is cut into P chunks. Halving s (hop 1 + s): q sends its
// partner q xor P / 2^(s+1) that half of its part which is the partner's. Doubling t (hop 1 + L +
// t): q sends q xor 2^t the 2^t chunks that it has.
#include <bit>

#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

std::int32_t log2_below(std::size_t ranks) {
  return static_cast<std::int32_t>(std::bit_width(ranks)) - 1;
}

class HalvingDoublingGenerator final : public ScheduledGenerator {
 public:
  HalvingDoublingGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : ScheduledGenerator(spec, bytes),
        levels_(log2_below(spec.members.size())),
        power_(1 << levels_),
        rest_(ranks_ - power_) {}

  std::int32_t sends(std::int32_t rank) const override {
    return is_out(rank) ? 1 : 2 * levels_ + (has_partner(rank) ? 1 : 0);
  }
  std::int32_t receives(std::int32_t rank) const override { return sends(rank); }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    if (is_out(rank)) {
      planned.destination = rank + 1;
      planned.reduce = true;
      return planned;
    }
    const std::int32_t q = rank < 2 * rest_ ? rank / 2 : rank - rest_;
    planned.hop = 1 + index;
    planned.needs = (has_partner(rank) ? 1 : 0) + index;
    planned.contributors = ranks_;
    if (index == 2 * levels_) {
      planned.destination = rank - 1;
    } else if (index >= levels_) {
      const std::int32_t bit = index - levels_;
      planned.destination = rank_of_number(q ^ (1 << bit));
      planned.block = (q >> bit) << bit;
    } else {
      const std::int32_t bit = levels_ - 1 - index;
      planned.destination = rank_of_number(q ^ (1 << bit));
      planned.block = ((q ^ (1 << bit)) >> bit) << bit;
      planned.contributors = summed(q, index);
      planned.reduce = true;
    }
    return planned;
  }

 protected:
  std::int32_t receive_index(const HopTransfer& hop) const override {
    const std::int32_t rank = hop.destination_rank;
    if (is_out(rank) || hop.hop == 0) return 0;
    return (has_partner(rank) ? 1 : 0) + hop.hop - 1;
  }

 private:
  bool is_out(std::int32_t rank) const { return rank < 2 * rest_ && rank % 2 == 0; }
  bool has_partner(std::int32_t rank) const { return rank < 2 * rest_ && rank % 2 == 1; }
  std::int32_t rank_of_number(std::int32_t q) const { return q < rest_ ? 2 * q + 1 : q + rest_; }
  /// Ranks in what q holds before halving s: numbers that equal q in the lowest L - s bits, of
  /// which those below `rest` count twice.
  std::int32_t summed(std::int32_t q, std::int32_t s) const {
    const std::int32_t stride = power_ >> s;
    const std::int32_t first = q % stride;
    const std::int32_t doubled = first < rest_ ? (rest_ - first + stride - 1) / stride : 0;
    return (1 << s) + doubled;
  }

  std::int32_t levels_;
  std::int32_t power_;
  std::int32_t rest_;
};

ChunkRange halving_doubling_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes) {
  const std::int32_t levels = log2_below(spec.members.size());
  if (hop.hop == 0 || hop.hop == 2 * levels + 1) return {0, spec.elements};
  const std::int32_t step = hop.hop - 1;
  const std::int32_t chunks = step < levels ? 1 << (levels - 1 - step) : 1 << (step - levels);
  const ChunkRange first = chunk_range(spec.elements, 1 << levels, hop.block);
  const ChunkRange last = chunk_range(spec.elements, 1 << levels, hop.block + chunks - 1);
  return {first.first, last.first + last.count - first.first};
}

using HalvingDoubling = Scheduled<HalvingDoublingGenerator>;

}  // namespace

constexpr CollectiveDescriptor collectives::halving_doubling{
    .name = "halving-doubling-all-reduce",
    .generator = HalvingDoubling::generator,
    .range = halving_doubling_range,
    .payload = HalvingDoubling::payload,
    .destinations = HalvingDoubling::destinations};

}  // namespace gradwire::sim
