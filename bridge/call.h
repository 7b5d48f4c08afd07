#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// What the ranks of somebody's PyTorch script tell: which collectives they call, and what they
/// computed in between. python/gradwire_torch writes it, bridge/recording.h reads it.
namespace gradwire::bridge {

enum class CallKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kBarrier,
  kSend,
  kReceive,
};
inline constexpr int kCallKinds = 11;

/// "all-reduce", "send", ...
std::string_view name_of(CallKind kind);
std::optional<CallKind> call_named(std::string_view name);
inline bool is_point_to_point(CallKind kind) {
  return kind == CallKind::kSend || kind == CallKind::kReceive;
}

/// Whether one rank of the group is another's than the rest: Call::peer.
inline bool has_root(CallKind kind) {
  return kind == CallKind::kBroadcast || kind == CallKind::kReduce || kind == CallKind::kGather ||
         kind == CallKind::kScatter;
}

/// More ranks, or elements of a call, than these are taken for a mistake.
inline constexpr int kMostRanks = 65'536;
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

/// One call of one rank. Ranks are those of the whole script, not of the group.
struct Call {
  std::int64_t number = 0;  ///< of this rank, from 1
  std::string group;        ///< the process group's name
  CallKind kind = CallKind::kBarrier;
  /// All-reduce, broadcast, reduce, send, receive: of what is sent. All-gather, gather, scatter: of
  /// one rank's block. Reduce-scatter: of a rank's whole input. All-to-all: the sum of `parts`.
  std::int64_t elements = 0;
  int width = 4;                    ///< bytes an element
  std::string type;                 ///< "float32"
  std::string reduction;            ///< "sum"; empty where nothing is reduced
  int peer = -1;                    ///< root; the other end of a send or receive
  int tag = 0;                      ///< of a send or receive
  std::vector<std::int64_t> parts;  ///< all-to-all: elements to each rank of the group, in order
  std::string place;                ///< "train.py:42"; may be empty

  Bytes bytes() const { return Bytes(elements * width); }
  /// An all-to-all of equal parts for `ranks` ranks, of `part` elements each.
  void set_parts(std::size_t ranks, std::int64_t part) {
    parts.assign(ranks, part);
    elements = part * static_cast<std::int64_t>(ranks);
  }
};

/// "all-reduce (sum) of 16 float32", "send of 4 int64 to rank 1".
std::string describe(const Call& call);
/// " at train.py:42"; empty where it is not known.
std::string place_text(const Call& call);

/// What happens on a rank, in its own order.
struct Event {
  enum class Kind : std::uint8_t {
    kCall,  ///< it calls; whoever is to wait does so in an event of its own
    kWait,  ///< it waits for the calls `waited`
    kStep,  ///< a step of its optimiser has ended
    kEnd,   ///< the script is through
  };
  static constexpr int kNoLane = -1;
  Kind kind = Kind::kCall;
  int rank = 0;
  /// What computes side by side: 0 the device, or all there is; 1 the processor beside it. On none:
  /// the event takes no time, and comes when all that it waits for is over.
  int lane = 0;
  Seconds compute{0};  ///< its lane's, since the event before there
  Call call;
  std::vector<std::int64_t> waited;  ///< numbers of calls
  std::vector<std::size_t> after;    ///< positions of events of its rank that it waits for, too
  std::string failure;               ///< kEnd: the exception that ended it; empty = none
};

}  // namespace gradwire::bridge
