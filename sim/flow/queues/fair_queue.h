#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/flow/queues/codel.h"
#include "sim/flow/tcp/numbered_queue.h"

/// The queue before a link that streams of several connections cross, packet by packet: FQ-CoDel
/// (RFC 8290), as ns-3 and Linux have it; or with a limit (set_limit()), then first come, first
/// served.
///
/// Each flow has a queue of its own. They have turns: a flow sends while its deficit is positive,
/// which a packet lowers by its bytes and a turn's end raises by a quantum. A flow that comes has
/// its first turn before those that are there. CoDel (codel.h) judges a packet when it leaves,
/// which is when the device behind the queue asks for one (leave()).
///
/// A packet counts without the framing that the device adds. When more packets wait than the queue
/// holds, half of those of the flow with the most bytes are dropped, its first ones, at most 64.
namespace gradwire::sim {

/// Which of many numbers has the most bytes: a tree of the larger of two, so that a change costs
/// the logarithm of how many there are.
class MostBytes {
 public:
  /// Begins anew, for `count` numbers of nothing.
  void keep(std::size_t count) {
    leaves_ = std::bit_ceil(std::max<std::size_t>(count, 2));
    tree_.assign(2 * leaves_, 0);
  }
  void forget() { leaves_ = 0; }
  /// Numbers below this one are kept.
  std::size_t room() const { return leaves_; }

  void set(std::size_t number, double bytes) {
    std::size_t at = leaves_ + number;
    tree_[at] = bytes;
    while (at > 1) {
      at /= 2;
      const double larger = std::max(tree_[2 * at], tree_[2 * at + 1]);
      if (tree_[at] == larger) return;
      tree_[at] = larger;
    }
  }
  /// Of several, the least number.
  std::size_t first() const {
    std::size_t at = 1;
    while (at < leaves_) at = 2 * at + (tree_[2 * at] == tree_[at] ? 0 : 1);
    return at - leaves_;
  }

 private:
  std::size_t leaves_ = 0;
  std::vector<double> tree_;  ///< the root is 1
};

class FairQueue {
 public:
  struct Packet {
    double came = 0;  ///< s
    std::int64_t number = 0;
    std::int32_t wire = 0;  ///< bytes
    std::int32_t sent = 0;  ///< ticks
  };
  struct Passed {
    std::int32_t flow = 0;
    Packet packet;
  };

  /// Packets that the queue before a link holds, as `packet` has it.
  static std::int64_t room(BitsPerSecond rate, Seconds delay, double segment) {
    constexpr std::int64_t kLeast = 10'240;
    return std::max(kLeast, static_cast<std::int64_t>(2 * rate.value() * delay.value() / segment));
  }

  /// `quantum`: wire bytes of a turn. `framing`: bytes of a packet on the wire that do not count.
  /// `most`: packets in the queue.
  FairQueue(const CoDelTimes& times, double quantum, double framing, std::int64_t most)
      : times_(times), quantum_(quantum - framing), framing_(framing), most_(most) {}

  /// First come, first served, whoever's packets they are, and what finds more than so many bytes
  /// with itself is dropped.
  void set_limit(double bytes) { limit_ = bytes; }
  /// A flow of its own.
  std::int32_t add_flow();
  void push(std::int32_t flow, const Packet& packet);
  /// The device asks for the next one at `now`. False: there is none.
  bool leave(double now, Passed& passed);
  /// ... and has asked for one when there was none: all turns are over.
  void end_turns();
  bool empty() const { return waiting_ == 0; }

 private:
  /// Less than a packet is no queue (RFC 8289, 4.2); bytes.
  static constexpr double kLeastBehind = 1500;

  enum class State : std::uint8_t { kInactive, kNew, kOld };
  struct Flow {
    NumberedQueue<Packet> packets;
    CoDel codel;
    double bytes = 0;
    double deficit = 0;
    State state = State::kInactive;
  };
  Flow& flow(std::int32_t f) { return flows_[static_cast<std::size_t>(f)]; }
  bool take_of(Flow& flow, double now, Packet& packet);
  Packet take_first(Flow& flow);
  void note_bytes(const Flow& flow) {
    const auto number = static_cast<std::size_t>(&flow - flows_.data());
    if (number < most_bytes_.room()) most_bytes_.set(number, flow.bytes);
  }
  void make_room();
  Passed take_by_turns(double now);
  CoDelTimes times_;
  double quantum_;
  double framing_;
  std::int64_t most_;
  std::vector<Flow> flows_;
  MostBytes most_bytes_;  ///< of flows_, while the queue is about full
  NumberedQueue<std::int32_t> new_;
  NumberedQueue<std::int32_t> old_;
  double limit_ = 0;             ///< bytes; 0: flows have turns
  NumberedQueue<Passed> order_;  ///< with a limit: what waits
  double filled_ = 0;            ///< ... bytes of them
  std::int64_t waiting_ = 0;     ///< packets
};

}  // namespace gradwire::sim
