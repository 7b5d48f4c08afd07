#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"

/// Collectives as lazy generators: a state machine that emits a transfer when it may start, so that
/// a ring of 4,096 workers (33 million transfers) is never built.
///
/// N members, rank r on host members[r]. E elements split into N chunks, chunk c being elements
/// [floor(c E / N), floor((c+1) E / N)).
///
/// | kind | hops | what rank r sends on hop h | bytes a rank sends |
/// | all-reduce, ring | 2(N-1) | chunk (r - h) mod N; h < N-1: partial sums of h+1 contributors;
/// then full sums | 2(N-1)/N E width/8 | | reduce-scatter, ring | N-1 | the first half of the above
/// | (N-1)/N E width/8 | | all-gather, ring | N-1 | block of rank (r - h) mod N, of that rank's own
/// size | sum of the others' blocks but one | | push (parameter server) | 1 | its message to the
/// server | own size | | pull (parameter server) | 1 | the server sends rank r its message | own
/// size |
namespace gradwire::sim {

enum class CollectiveKind : std::uint8_t {
  kRingAllReduce,
  kRingReduceScatter,
  kRingAllGather,
  kPush,
  kPull
};
std::string_view name_of(CollectiveKind kind);

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kRingAllReduce;
  std::vector<std::int32_t> members;  ///< hosts by rank; N = size
  std::int32_t server = -1;           ///< host of the server (push and pull)
  std::int64_t elements = 0;  ///< E (all-reduce and reduce-scatter; all-gather: informative)
  /// Bits an element of a partial sum of j contributors, at [min(j, size) - 1]; size 1 = constant.
  /// Only all-reduce and reduce-scatter use it; a chunk's hop is ceil(count * width / 8) bytes.
  std::vector<std::uint8_t> width_bits = {32};
  /// Time the receiver needs to add a hop's chunk before it may send it on: fixed + per element.
  Seconds hop_fixed{0};
  Seconds hop_per_element{0};
  std::int32_t buffer = 0;  ///< the caller's number for what is moved

  /// Values of the step's bytes[] this operation reads: N for all-gather, push and pull (by rank),
  /// 0 for all-reduce and reduce-scatter, whose sizes follow from elements and width_bits.
  std::uint32_t byte_slots() const;
};

/// One hop. `contributors` = workers summed in the payload (1 where nothing is summed).
struct HopTransfer {
  std::int32_t source_rank = 0;       ///< -1: the server
  std::int32_t destination_rank = 0;  ///< -1: the server
  std::int32_t hop = 0;
  std::int32_t block = 0;  ///< chunk (reductions) or owner rank (gathers)
  std::int32_t contributors = 1;
  bool reduce = false;  ///< the receiver adds (else it stores)
  Bytes bytes{0};
};

/// The state machine of one running collective. Events at one rank only touch that rank's state, so
/// one process that holds a single rank can run it too (the emulator does).
class CollectiveGenerator {
 public:
  virtual ~CollectiveGenerator() = default;
  virtual std::int64_t transfers_total() const = 0;
  /// Messages that this rank (-1: the server) receives in all.
  virtual std::int64_t incoming(int rank) const = 0;
  /// Rank's inputs are there (-1: the server's). Appends transfers that may start now.
  virtual void on_ready(int rank, std::vector<HopTransfer>& start) = 0;
  /// `hop` reached its destination and was reduced there. Appends what the destination may send
  /// now.
  virtual void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>& start) = 0;
  /// Rank is ready and holds its result; a rank that only sends (push; the server of a pull) is
  /// done when what it sent has arrived. -1: the server.
  virtual bool rank_done(int rank) const = 0;
};

/// `bytes`: the byte_slots() values of this step. The spec must outlive the generator.
std::unique_ptr<CollectiveGenerator> make_generator(const CollectiveSpec& spec,
                                                    std::span<const Bytes> bytes);

/// Elements of chunk `chunk` of a reduction: [first, first + count).
struct ChunkRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
ChunkRange chunk_range(std::int64_t elements, int ranks, int chunk);
int width_of(const CollectiveSpec& spec, int contributors);

}  // namespace gradwire::sim
