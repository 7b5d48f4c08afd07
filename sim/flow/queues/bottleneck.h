#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "sim/flow/queues/codel.h"

/// The queue in which the segments of one TCP stream wait for the slowest link of their path.
///
/// The queue belongs to the stream alone (fair queueing gives each one its own) and is served at
/// the stream's present share, first in first out:
///     departs(k) = max(arrives(k), departs(k - 1)) + bytes / rate
/// CoDel (RFC 8289) drops segments at its head: while they have waited longer than `target` for an
/// `interval`, at intervals of interval / sqrt(count). (A queue with a limit is a packet
/// network's.)
namespace gradwire::sim {

class Bottleneck {
 public:
  /// Bytes a second of a link that carries nothing: what waits keeps its place, and CoDel, which
  /// looks at what leaves, decides nothing.
  static constexpr double kStalled = 1e-3;

  struct Discipline {
    CoDelTimes codel = {};
    /// Bytes/s, of the link itself; 0: not known.
    double line_rate = 0;
    /// A segment that finds none of its own stream's before it takes the time of the link, and the
    /// next one comes a share's time later; else it takes that itself.
    bool spreads = false;
    /// As a queue before a network device is, in Linux and ns-3: a segment leaves it for a place
    /// behind the one on the wire; what leaves less than a packet behind is not dropped; and
    /// 1 / sqrt(count) is one Newton step a drop, in 16 bits.
    bool at_device = false;
    /// The device has no place behind the wire: a segment leaves the queue when its own time comes.
    /// So it is, too, where set_line() says less than `line_rate`.
    bool at_wire = false;
    double quantum = 0;  ///< bytes of a stream's turn; 0: each segment's own
  };

  /// Streams of one path share it.
  explicit Bottleneck(std::shared_ptr<const Discipline> discipline)
      : discipline_(std::move(discipline)),
        line_(discipline_->line_rate),
        codel_{discipline_->codel, discipline_->at_device} {}
  explicit Bottleneck(const Discipline& discipline)
      : Bottleneck(std::make_shared<const Discipline>(discipline)) {}

  double rate() const { return rate_; }  ///< bytes/s; 0: nothing passes
  double free_at() const { return free_at_; }
  /// The slowest link carries so many bytes/s now, which others' segments pass at, too: what
  /// set_rate() says next comes of that.
  void set_line(double rate) {
    line_changes_ = line_changes_ || rate != line_;
    line_ = rate;
  }
  /// What waits is served at the new rate.
  void set_rate(double now, double rate);
  /// Where a segment that was to depart at `departure` departs after set_rate() at `now`.
  double moved(double now, double departure) const {
    const double from = std::max(now, kept_);
    return departure > from ? from + (departure - from) * stretch_ : departure;
  }

  /// Whether a segment that comes at `now` passes; then departure() says when it has. `behind`:
  /// payload bytes that are to come behind it.
  bool pass(double now, double bytes, double behind = std::numeric_limits<double>::infinity());
  double departure() const { return free_at_; }
  /// When the next segment's turn begins, which came at `came`: from then on pass() may say what
  /// becomes of it, and no later change of the rate makes that untrue.
  double turn_of(double came) const { return std::max(came, free_at_); }
  /// Whether the segment that was dropped last passes after all if by drop_time(), when it would
  /// leave the queue, less than a packet has come behind it: spare().
  bool may_spare() const { return discipline_->at_device; }
  /// When the dropped segment would leave. Precondition: pass() has said no.
  double drop_time() const { return dropped_->leaves; }
  static bool is_queue(double behind) { return behind >= kLeastBehind; }
  /// The dropped segment passes. Precondition: nothing has come since pass() said no.
  void spare();
  bool waits_too_long() const { return codel_.waits_too_long(); }  ///< codel.h

 private:
  /// Less than a packet is no queue (RFC 8289, 4.2); bytes of its payload.
  static constexpr double kLeastBehind = 1448;

  struct Dropped {
    CoDel before;
    double leaves = 0;  ///< s: when it is dropped
    double start = 0;   ///< s: when its turn on the wire would come
    double service = 0;
  };

  double wait_for_turn(double now, double bytes, double behind, double even);

  std::shared_ptr<const Discipline> discipline_;
  double rate_ = 0;
  double line_ = 0;    ///< bytes/s
  double credit_ = 0;  ///< bytes left of the stream's turn
  double free_at_ = 0;
  double begun_ = 0;  ///< s: when the last one's turn on the wire came
  double stretch_ = 1;
  double kept_ = 0;  ///< s: what departs until then is not moved
  bool line_changes_ = false;
  CoDel codel_;
  std::unique_ptr<Dropped> dropped_;  ///< the last one, until another passes
};

}  // namespace gradwire::sim
