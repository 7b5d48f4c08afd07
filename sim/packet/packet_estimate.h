#pragma once
#include "sim/session/executor.h"

/// What a packet run will cost, before it starts.
namespace gradwire::sim {

/// Work that a graph makes for ns-3.
///
///     events = sum over links (events a hop * packets) + kEventsPerSegment segments
///              + kEventsPerTransfer transfers
///
/// and what radios add (sim/packet/cell_work.h). A segment crosses every link of its route, and
/// half as many acknowledgements the way back. Where packets are lost, segments are sent 1 / (1 -
/// loss of the route) times in the mean. A hop is three events on ns-3's point-to-point devices and
/// two on ours; the other constants were fitted to counts (docs/packet.md).
struct PacketWork {
  std::int64_t transfers = 0;
  double segments = 0;
  double hops = 0;  ///< packets times links, acknowledgements included
  double events = 0;
  double effort = 0;  ///< in events of a path without such lists
};

inline constexpr double kEventsPerPlainHop = 3;
inline constexpr double kEventsPerHop = 2;
inline constexpr double kEventsPerSegment = 1.2;
inline constexpr double kEventsPerTransfer = 1;
inline constexpr double kEffortPerWindow = 0.0128;  ///< per segment sent and segment in flight

/// Runs the graph on a network that delivers at once, to see every transfer of its collectives:
/// about 0.2 us each. Of more than ten million the first ten million stand for all.
/// `submission.after` is ignored.
PacketWork packet_work(const Cluster& cluster, const TransportSettings& transport,
                       const Submission& submission);

/// Effort a second on one undisturbed core of a machine of 2024.
inline constexpr double kTypicalPacketSpeed = 500e3;
/// Effort a second of gradwire-packet on this machine, as it is now: by a short run (0.2 s).
/// Throws as make_packet_executor() does.
double measure_packet_speed(const ExecutorOptions& options);

}  // namespace gradwire::sim
