#pragma once
#include <limits>

#include "sim/flow/tcp/numbered_queue.h"

/// A queue with a limit before a link that several connections cross, where rates from event to
/// event are asked for: first come, first served, whoever's it is. A packet that does not fit when
/// it comes is dropped.
///     begins(k) = max(comes(k), ends(k - 1))
///     ends(k)   = begins(k) + bytes / rate
/// As before a device in ns-3 and Linux, a packet leaves the queue for a place behind the one on
/// the wire, when that one begins, and counts without the framing that the device adds. (A place
/// that becomes free because the link was idle is taken when all has come that comes then.)
namespace gradwire::sim {

class SharedQueue {
 public:
  /// `limit`: bytes in the queue. `framing`: bytes of a packet on the wire that do not count.
  SharedQueue(double limit, double framing) : limit_(limit), framing_(framing) {}

  /// Whether a packet that comes at `now`, not before any other, fits; then departure() says when
  /// it is through. `rate`: bytes a second of the link.
  bool pass(double now, double bytes, double rate);
  double departure() const { return free_at_; }

 private:
  bool fits(double now, double bytes, double rate);

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Packet {
    double came = 0;    ///< s
    double leaves = 0;  ///< s, the queue
    double bytes = 0;
  };
  double limit_;
  double framing_;
  NumberedQueue<Packet> waiting_;
  double filled_ = 0;       ///< bytes of those
  double came_ = -kNever;   ///< s: when the last one came
  double begun_ = -kNever;  ///< ... and begins
  double free_at_ = -kNever;
};

}  // namespace gradwire::sim
