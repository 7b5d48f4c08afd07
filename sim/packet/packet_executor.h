#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/packet/segment_books.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// Runs graphs in ns-3, in a process of its own (`gradwire-packet`): real TCP state machines,
/// queues and losses, at 0.3 to 0.5 million events a second. Connections stay warm from graph to
/// graph; those that a graph uses are opened before it starts, without costing virtual time where
/// nothing else is under way.
///
/// Limits: hosts have no processing time of their own; every byte costs events, so a gigabyte takes
/// seconds of wall clock.
///
/// Throws Error(kCapability) where the program is missing or cannot run, saying why.
std::unique_ptr<Executor> make_packet_executor(const Cluster& cluster,
                                               const ExecutorOptions& options);

/// What a packet executor's program has done so far.
struct PacketStatistics {
  std::uint64_t events = 0;  ///< of ns-3's scheduler
  SegmentBooks segments;     ///< where ExecutorOptions::count_segments asked for them
};
/// `executor` must be one that make_packet_executor() made.
PacketStatistics packet_statistics(const Executor& executor);

/// options.packet_program, or the variable GRADWIRE_PACKET_PROGRAM, or gradwire-packet beside the
/// running program.
std::string packet_program(const ExecutorOptions& options);

}  // namespace gradwire::sim
