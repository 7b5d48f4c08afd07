#pragma once
#include <string>

/// What differs between the TCPs that `flow` can follow: constants with names, which a calibration
/// (sim/transport/calibration.h) holds as data. What a scenario says of its transport (windows,
/// delayed acknowledgements, least timeout, buffers) is in TransportSettings
/// (sim/transport/transport_settings.h) instead. The defaults are ns-3 3.44's as the packet
/// executor sets it.
namespace gradwire::sim {

struct TcpConstants {
  // Which rules.
  /// Linux's loss recovery in place of RFC 6675's: losses found by time (RACK, RFC 8985), tail loss
  /// probes, the kernel's proportional rate reduction; timeouts of smoothed round trip + max(least,
  /// 4 deviations), and all of CUBIC forgotten after one (sim/flow/tcp/linux_sender.h).
  bool kernel_recovery = false;
  /// After a timeout of silence the window is halved for each one, down to the initial window; and
  /// it shrinks while less of it is used (RFC 2861, net.ipv4.tcp_slow_start_after_idle).
  bool idle_restart = false;
  /// The last segment of a message is acknowledged at once: its reader waits for it.
  bool acknowledge_messages = false;
  /// Segments go out in bundles, as large as a millisecond of the sender's pace, and wait for a
  /// larger one while the next acknowledgement is near (sim/flow/tcp/linux_sender.h); a bundle's
  /// last segment is acknowledged at once. Linux's rules only.
  bool bundles = false;

  /// Bytes that a receiver offers before its first acknowledgement: a handshake's window has 16
  /// bits and is not scaled yet (RFC 7323, section 2.2).
  double first_offer = 65'535;

  // Acknowledgements.
  double quick_acks = 1;  ///< so many at once before delaying, and again after a timeout of silence
  /// As long as the receive window grows, by two segments for each, none is delayed: the first of
  /// a connection, as many as fill this share of the buffer.
  double quick_share = 0;

  // Round trips.
  double tick = 1e-3;       ///< s: time stamps' resolution (RFC 7323); the kernel's rules have none
  double largest_rto = 60;  ///< s

  // HyStart (Ha and Rhee 2011): when slow start ends.
  double train_gap = 2e-3;     ///< s between acknowledgements of one train
  double train_share = 1;      ///< a train of train_share x (least round trip + train_slack)
  double train_slack = 0;      ///< s
  double rise_share = 1;       ///< a rise of the round trip by this share of the least one
  double least_rise = 4e-3;    ///< s
  double largest_rise = 1;     ///< s
  double settle_time = 10e-3;  ///< s after a loss without samples

  // RACK and probes.
  double reorder_share = 0.25;   ///< of the least round trip, before three are sacked
  double probe_round_trips = 2;  ///< smoothed ones, until a probe
  double probe_slack = 8e-3;     ///< s added to it, where more than one segment is out

  // The queue before a link whose queue has no size: CoDel.
  double codel_target = 5e-3;   ///< s
  double codel_interval = 0.1;  ///< s
  /// The target is at least so many segments' time: no whole number, so that an interval (two
  /// targets) is none either, and no rounding decides which segment is dropped.
  double codel_segments = 100.25;

  bool operator==(const TcpConstants&) const = default;
};

/// An equal set that lives as long as the process: connections by the ten thousand point to it
/// instead of each having its own. Thread-safe.
const TcpConstants& shared_constants(const TcpConstants& constants);

}  // namespace gradwire::sim
