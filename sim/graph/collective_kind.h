#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"

/// What kinds of collectives there are: each is one descriptor, in the file of its algorithm
/// (sim/graph/collectives/). Another one takes such a file, a name below, and a place in
/// collective_kinds().
namespace gradwire::sim {

class CollectiveGenerator;
struct ChunkRange;
struct CollectiveSpec;
struct HopTransfer;

/// Everything in which one collective differs from others.
struct CollectiveDescriptor {
  /// Sizes that a step gives: none, as they follow from elements and widths; one; or one a rank.
  enum class Sizes : std::uint8_t { kElements, kOne, kByRank };
  /// What the server does in it.
  enum class Server : std::uint8_t { kNone, kReceives, kSends };
  /// How its time follows in closed form (sim/model/closed_form.h).
  enum class Cost : std::uint8_t { kRing, kServer, kInOrder, kAtOnce, kThroughTree };
  using Generator = std::unique_ptr<CollectiveGenerator>(const CollectiveSpec& spec,
                                                         std::span<const Bytes> bytes);
  using Range = ChunkRange(const CollectiveSpec& spec, const HopTransfer& hop, Bytes message);
  using Payload = Bytes(const CollectiveSpec& spec, std::span<const Bytes> bytes);
  using Destinations = std::vector<std::int32_t>(const CollectiveSpec& spec, int rank);
  using Problem = const char*(const CollectiveSpec& spec);
  using Repeats = bool(const CollectiveSpec& spec, std::span<const Bytes> bytes, std::int32_t rows);

  constexpr bool has_server() const { return server != Server::kNone; }

  std::string_view name;
  Sizes sizes = Sizes::kElements;
  Server server = Server::kNone;
  Cost cost = Cost::kInOrder;
  Generator* generator = nullptr;
  Range* range = nullptr;  ///< hop_range(); null: hops carry messages, not chunks
  Payload* payload = nullptr;
  Destinations* destinations = nullptr;
  Problem* problem = nullptr;  ///< what is wrong with its part of a spec; null: it has none
  /// Whether rank r + rows (modulo all ranks) sends what rank r does, in the same order and after
  /// as many receives, to ranks that are `rows` further; such a collective takes part_of. null:
  /// it never does.
  Repeats* repeats = nullptr;
};

/// A kind, by its descriptor.
class CollectiveKind {
 public:
  constexpr explicit CollectiveKind(const CollectiveDescriptor& descriptor)
      : descriptor_(&descriptor) {}
  constexpr const CollectiveDescriptor* operator->() const { return descriptor_; }
  friend constexpr bool operator==(CollectiveKind, CollectiveKind) = default;

  static const CollectiveKind kRingAllReduce, kRingReduceScatter, kRingAllGather, kPush, kPull,
      kTreeAllReduce, kHalvingDoublingAllReduce, kTwoLevelAllReduce, kDirectAllGather, kAllToAll,
      kTreeBroadcast, kGossip, kInNetworkAllReduce;

 private:
  const CollectiveDescriptor* descriptor_;
};

namespace collectives {
extern const CollectiveDescriptor ring_all_reduce, ring_reduce_scatter, ring_all_gather, push, pull,
    tree_all_reduce, halving_doubling, two_level, direct_all_gather, all_to_all, tree_broadcast,
    gossip, in_network;
}  // namespace collectives

inline constexpr CollectiveKind CollectiveKind::kRingAllReduce{collectives::ring_all_reduce};
inline constexpr CollectiveKind CollectiveKind::kRingReduceScatter{
    collectives::ring_reduce_scatter};
inline constexpr CollectiveKind CollectiveKind::kRingAllGather{collectives::ring_all_gather};
inline constexpr CollectiveKind CollectiveKind::kPush{collectives::push};
inline constexpr CollectiveKind CollectiveKind::kPull{collectives::pull};
inline constexpr CollectiveKind CollectiveKind::kTreeAllReduce{collectives::tree_all_reduce};
inline constexpr CollectiveKind CollectiveKind::kHalvingDoublingAllReduce{
    collectives::halving_doubling};
inline constexpr CollectiveKind CollectiveKind::kTwoLevelAllReduce{collectives::two_level};
inline constexpr CollectiveKind CollectiveKind::kDirectAllGather{collectives::direct_all_gather};
inline constexpr CollectiveKind CollectiveKind::kAllToAll{collectives::all_to_all};
inline constexpr CollectiveKind CollectiveKind::kTreeBroadcast{collectives::tree_broadcast};
inline constexpr CollectiveKind CollectiveKind::kGossip{collectives::gossip};
inline constexpr CollectiveKind CollectiveKind::kInNetworkAllReduce{collectives::in_network};

/// All of them, in an order that stays: files count by it.
std::span<const CollectiveKind> collective_kinds();
/// Its place there.
std::uint8_t number_of(CollectiveKind kind);
/// Throws SimError for a number that none has.
CollectiveKind collective_numbered(std::uint8_t number);
std::optional<CollectiveKind> collective_named(std::string_view name);
inline std::string_view name_of(CollectiveKind kind) {
  return kind->name;
}

}  // namespace gradwire::sim
