#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/flow/tcp/stream.h"
#include "tests/sim/graphs.h"

/// One TCP connection by itself, for the tests of its rules.
namespace gradwire::sim::testing {

/// Hosts 0 and 1, joined by one link; `way`: s.
inline Cluster wire(double bits_per_second, double way) {
  Cluster cluster;
  cluster.add_host("a");
  cluster.add_host("b");
  cluster.add_link(0, 1, link(bits_per_second, way));
  cluster.finish();
  return cluster;
}

/// A stream over it, at the link's full rate; `lost`, `lost_acks`: numbers of segments and
/// acknowledgements, in the order in which they are sent.
inline TcpStream stream_over(double bits_per_second, double way, const TransportSettings& transport,
                             std::vector<std::uint64_t> lost,
                             std::vector<std::uint64_t> lost_acks = {}) {
  const Cluster cluster = wire(bits_per_second, way);
  const std::vector<ChannelId> route{0};
  const TcpPath path(cluster, route, transport);
  TcpStream result(path, transport, LossSequence(std::move(lost)),
                   LossSequence(std::move(lost_acks)));
  result.serve(0, path.line_rate);
  return result;
}

/// Sends `segments` whole ones at `begin`; how long until they have arrived (and are the front
/// message, if what came before is drained).
inline double send(TcpStream& tcp, int segments, double begin = 0) {
  tcp.run(begin);
  tcp.write(begin, 1, segments * 1448);
  for (;;) {
    const double next = tcp.next_event();
    REQUIRE(next < TcpStream::kNever);
    tcp.run(next);
    if (tcp.delivered(next)) return next - begin;
  }
}

/// Until nothing happens any more; messages are taken.
inline void drain(TcpStream& tcp) {
  while (tcp.next_event() < TcpStream::kNever) {
    const double next = tcp.next_event();
    tcp.run(next);
    while (tcp.delivered(next)) tcp.pop();
  }
}

}  // namespace gradwire::sim::testing
