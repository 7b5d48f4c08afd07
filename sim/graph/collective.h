#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/units.h"
#include "sim/graph/chunk_range.h"
#include "sim/graph/collective_kind.h"

/// Collectives as lazy generators: a state machine that emits a transfer when it may start, so that
/// a ring of 4,096 workers (33 million transfers) is never built.
///
/// N members, rank r on host members[r]. E elements split into N chunks, chunk c being elements
/// [floor(c E / N), floor((c+1) E / N)).
///
/// Kinds: hops; what rank r sends; bytes (each: of a rank; all: of all ranks).
///   ring all-reduce       2(N-1); hop h: chunk (r - h) mod N, for h < N-1 partial sums of h+1
///                         contributors, then full sums; each 2(N-1)/N E w
///   ring reduce-scatter   N-1; hop h: chunk (r - h) mod N, partial sums of h+1 contributors; each
///                         (N-1)/N E w
///   ring all-gather       N-1; hop h: block of rank (r - h) mod N, of that rank's own size; sum of
///                         the others' blocks but one
///   tree all-reduce       2 ceil(log2 N); its sum to its parent, the result to its children, one
///                         after the other (binomial tree, root 0); all 2(N-1) E w
///   halving-doubling      2 log2 P (+2), P = the largest power of two <= N; halves, then what it
///                         has (collectives/halving_doubling.cc); each of P 2(P-1)/P E w, and E w
///                         for each of the 2(N-P) that pair up
///   two-level all-reduce  2(M-1) + 2, M groups; members: vector to the leader; leaders: a ring's M
///                         chunks, then the sum to their members; members E w, leaders 2(M-1)/M E w
///                         + (size - 1) E w
///   in-network            2 levels each way (collectives/in_network.cc); workers: vector to the
///                         aggregator above them; it sends sums up, the sum down; E w each way
///   direct all-gather     N-1; its own message to everybody; (N-1) own size
///   all-to-all            N-1; chunk d of its own message (N chunks of bytes) to rank d; own size
///                         less its own chunk
///   tree broadcast        ceil(log2 N); rank 0's message to its children in turn; all (N-1) size
///   gossip                1; its own message to each of its neighbours; degree x own size
///   push, pull            1; its message to the parameter server, or the server's to it; own size
///
/// w = width / 8 bytes an element, rounded up by hop; the widths meant here are those of full sums.
namespace gradwire::sim {

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kRingAllReduce;
  std::vector<std::int32_t> members;  ///< hosts by rank; N = size (in-network: aggregators too)
  std::int32_t server = -1;           ///< host of the server (push and pull)
  std::int64_t elements = 0;  ///< E (all-reduce and reduce-scatter; all-gather: informative)
  std::int32_t group = 1;     ///< two-level: ranks of a group
  /// Direct all-gather, all-to-all, gossip: messages of a rank that are on their way at once; 0 =
  /// all.
  std::int32_t window = 0;
  /// Gossip: rank r sends to neighbour[neighbour_begin[r] .. neighbour_begin[r + 1]).
  std::vector<std::int32_t> neighbour_begin;
  std::vector<std::int32_t> neighbour;
  /// In-network: the rank that adds up what this one sends, a later one; -1 for the last rank, the
  /// root. Workers are nobody's parents.
  std::vector<std::int32_t> parent;
  /// Bits an element of a partial sum of j contributors, at [min(j, size) - 1]; size 1 = constant.
  /// Only all-reduce and reduce-scatter use it; a chunk's hop is ceil(count * width / 8) bytes.
  std::vector<std::uint8_t> width_bits = {32};
  /// Time the receiver needs to add a hop's chunk before it may send it on: fixed + per element.
  Seconds hop_fixed{0};
  Seconds hop_per_element{0};
  std::int32_t buffer = 0;  ///< the caller's number for what is moved
  /// Ranks of a larger collective of which the members are a part that is like every other one
  /// (sim/folding/): hops and sizes are that one's. 0: none.
  std::int32_t part_of = 0;

  /// Values of the step's bytes[] this operation reads: 0 for all-reduce and reduce-scatter, whose
  /// sizes follow from elements and width_bits; 1 for a broadcast; else N, by rank.
  std::uint32_t byte_slots() const;
  bool is_reduction() const { return byte_slots() == 0; }
  /// Ranks of the whole collective.
  std::int32_t ranks() const {
    return part_of > 0 ? part_of : static_cast<std::int32_t>(members.size());
  }
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
  /// `hop` reached its destination, as its source learns. Appends what the source may send now.
  /// Called only if wants_sent().
  virtual void on_sent(const HopTransfer&, std::vector<HopTransfer>&) {}
  virtual bool wants_sent() const { return false; }
  /// Whether `hop` is the next to be added or stored at its destination. Those that move data keep
  /// others back until it is their turn: a sum's order of additions must not depend on time.
  virtual bool expects(const HopTransfer&) const { return true; }
  /// Rank is ready and holds its result; a rank that only sends (push; the server of a pull) is
  /// done when what it sent has arrived. -1: the server.
  virtual bool rank_done(int rank) const = 0;
};

/// `bytes`: the byte_slots() values of this step. The spec must outlive the generator.
std::unique_ptr<CollectiveGenerator> make_generator(const CollectiveSpec& spec,
                                                    std::span<const Bytes> bytes);

inline int width_of(const CollectiveSpec& spec, int contributors) {
  const std::size_t last = spec.width_bits.size();
  return spec.width_bits[std::min(static_cast<std::size_t>(contributors), last) - 1];
}
/// Bytes of a chunk's partial sum: whole ones, so that hops can be packed independently.
inline Bytes packed_bytes(std::int64_t count, int width) {
  return Bytes((count * width + 7) / 8);
}
/// Elements that a hop of a reduction carries; of an all-to-all: bytes of the source's message
/// (`message`: its size). Else none.
ChunkRange hop_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes message = Bytes(0));
/// Payload that all ranks (and the server) together send.
Bytes total_payload(const CollectiveSpec& spec, std::span<const Bytes> bytes);
/// Ranks (-1: the server) to which `rank` (-1: the server) sends, each once, ascending.
std::vector<std::int32_t> destinations_of(const CollectiveSpec& spec, int rank);

}  // namespace gradwire::sim
