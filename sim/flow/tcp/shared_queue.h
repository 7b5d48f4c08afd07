#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "sim/flow/tcp/changing_wire.h"
#include "sim/flow/tcp/channel_jitter.h"
#include "sim/flow/tcp/numbered_queue.h"

/// A queue with a limit before a link that several connections cross: first come, first served,
/// whoever's it is. A packet that does not fit when it comes is dropped.
///     begins(k) = max(comes(k), ends(k - 1))
///     ends(k)   = begins(k) + bytes / rate
/// As before a device in ns-3 and Linux, a packet leaves the queue for a place behind the one on
/// the wire, when that one begins, and counts without the framing that the device adds. (A place
/// that becomes free because the link was idle is taken when all has come that comes then.) Before
/// packet's own device, which has no such place, it leaves when that one ends; where the link
/// changes, too, its rate is integrated (changing_wire.h). Before a link of the emulator (by
/// Linux's rules) the packet on the wire counts, too, as far as it is not sent yet (whole where the
/// link changes), and all with their framing.
namespace gradwire::sim {

class SharedQueue {
 public:
  /// `limit`: bytes in the queue. `framing`: bytes of a packet on the wire that do not count.
  SharedQueue(double limit, double framing) : limit_(limit), framing_(framing) {}

  /// Call before anything comes.
  void set_without_place() { has_place_ = false; }
  void set_wire(const RateFollower& follower) {
    wire_.emplace(follower);
    has_place_ = false;
  }
  /// The wire is a part of the queue.
  void set_with_wire() { has_wire_ = true; }
  void set_jitter(const ChannelJitter& jitter) { jitter_ = jitter; }
  /// Whether a packet that comes at `now`, not before any other, fits; then departure() says when
  /// it is through. `rate`: bytes a second of the link.
  /// `first`: of what happens at one instant, it comes before another one leaves.
  bool pass(double now, double bytes, double rate, bool first = false);
  double departure() const { return departure_; }
  /// s: by so much more of them that departs later than another one by another link at the same
  /// instant which ns-3 has before it.
  double later() const { return later_; }
  /// The same of one that takes its link for `time` s and has followed so many others there.
  static double later_of(int follows, double time, bool first);

 private:
  bool fits(double now, double bytes, double rate, bool first);

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Packet {
    double came = 0;    ///< s
    double leaves = 0;  ///< s, the queue
    double bytes = 0;
  };
  double limit_;
  double framing_;
  bool has_place_ = true;
  bool has_wire_ = false;
  std::optional<ChangingWire> wire_;
  NumberedQueue<Packet> waiting_;
  double filled_ = 0;       ///< bytes of those
  double came_ = -kNever;   ///< s: when the last one came
  double begun_ = -kNever;  ///< ... and begins
  double free_at_ = -kNever;
  double departure_ = -kNever;
  ChannelJitter jitter_;
  int busy_ = 0;  ///< packets that it has sent one after the other
  double later_ = 0;
};

}  // namespace gradwire::sim
