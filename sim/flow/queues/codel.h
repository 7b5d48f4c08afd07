#pragma once
#include "sim/flow/tcp_path.h"
#include "sim/transport/tcp_constants.h"

/// CoDel (RFC 8289), which drops at the head of a queue: while packets have waited longer than
/// `target` for an `interval`, at intervals of interval / sqrt(count). On slow links, too, some
/// segments may stand before any is dropped (TcpConstants::codel_segments):
///     target = max(5 ms, 100.25 s),  interval = max(100 ms, 2 target)    s: a segment's time
namespace gradwire::sim {

struct CoDelTimes {
  double target = 0;    ///< s
  double interval = 0;  ///< s
};

/// Before a link on which a full segment takes `segment_time`, s.
CoDelTimes codel_times(double segment_time, const TcpConstants& constants);

/// What one queue remembers.
struct CoDel {
  CoDelTimes times;
  /// As in Linux and ns-3, 1 / sqrt(count) is one Newton step a drop, in 16 bits.
  bool by_steps = false;
  double above_since = -1;  ///< s: when dropping may begin; < 0: not above the target
  double next_drop = 0;
  int count = 0;
  int last_count = 0;
  double root = 1;     ///< 1 / sqrt(count), where steps lead to it
  double spacing = 0;  ///< s, of drops
  bool dropping = false;

  /// Whether a packet that would leave at `start` is dropped. It has waited for so long, and others
  /// wait behind it.
  bool drops(double start, double waited);
  /// A packet has left the queue short.
  void leave() {
    above_since = -1;
    dropping = false;
  }
  /// Packets have waited longer than the target: if that goes on some are dropped.
  bool waits_too_long() const { return dropping || above_since >= 0; }

 private:
  void count_to(int count);
};

}  // namespace gradwire::sim
