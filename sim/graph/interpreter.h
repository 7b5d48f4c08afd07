#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "sim/graph/step_graph.h"
#include "sim/graph/timeline.h"

/// The one interpreter that moves the data which a graph describes, through callbacks. In memory it
/// plays all hosts; over sockets a process plays one host. There is no second ring.
namespace gradwire::sim {

/// Who holds the data. Calls for one host never overlap.
class DataHandler {
 public:
  virtual ~DataHandler() = default;
  /// The payload `host` sends. `chunk`: elements for reductions and transfers, bytes of the owner's
  /// message for an all-to-all; the owner rank's whole message for gathers, broadcasts, gossip,
  /// pushes and pulls (count 0 then). The span stays valid
  /// until the matching receive returns.
  virtual std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                          ChunkRange chunk) = 0;
  /// `host` receives the payload; does what the graph says (hop.reduce: add, else store).
  virtual void receive(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
                       std::span<const std::byte> payload) = 0;
  /// `host` receives a payload of which `missing` bytes never arrived: those must count as
  /// nothing. By default receive() gets zeros in their place, which is right for sums of numbers;
  /// handlers of encoded messages and of stores that keep what they had say otherwise.
  virtual void receive_partial(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
                               std::span<const std::byte> payload,
                               std::span<const ByteRange> missing);
};

/// Moves all data of one collective or transfer of `graph`, all hosts in this process, in a
/// dependency-respecting, deterministic order (first emitted, first delivered, but at each rank in
/// the order in which its sums are formed). Asserts that each
/// payload has exactly the size the graph charges for it. `bytes`: those of the whole step, or this
/// operation's own. A plain transfer is one hop from rank 0 to rank 1. `missing`: what the executor
/// says has not arrived (Executor::missing; other operations' are passed over).
void interpret(const GraphTemplate& graph, OpIndex op, std::span<const Bytes> bytes,
               DataHandler& handler, std::span<const MissingData> missing = {});

/// A message of the interpreter between two hosts, over sockets.
struct WireMessage {
  OpIndex op = 0;
  HopTransfer hop;
  std::vector<std::byte> payload;
};

/// Carries messages of one process' host to and from the others, in order for each pair of hosts.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void send(int to_host, OpIndex op, const HopTransfer& hop,
                    std::span<const std::byte> payload) = 0;
  /// Blocks for the next message of operation `op`, keeping those of later operations back.
  virtual WireMessage receive(OpIndex op) = 0;
};

/// Plays one host's part of one collective or transfer: same generators, same order rules. Returns
/// when the host has sent and received all its messages; at once if it takes no part.
void interpret_host(const GraphTemplate& graph, OpIndex op, std::span<const Bytes> bytes, int host,
                    DataHandler& handler, Wire& wire);

}  // namespace gradwire::sim
