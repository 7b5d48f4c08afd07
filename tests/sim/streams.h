#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/flow/fluid/fluid_stream.h"
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

/// A stream alone on its path, at the full rate of the slowest link.
class LoneStream : public FluidStream {
 public:
  LoneStream(const TcpPath& path, const TransportSettings& transport, LossSequence data,
             LossSequence acks)
      : FluidStream(std::make_shared<const StreamPath>(path, transport), transport, std::move(data),
                    std::move(acks)) {
    serve(0, path.line_rate);
  }

  void write(double now, std::uint64_t id, std::int64_t bytes) { tcp().write(now, id, bytes); }
  bool delivered(double now) const { return tcp().delivered(now); }
  const TcpStream::Message& front() const { return tcp().front(); }
  void pop() { tcp().pop(); }
  bool idle() const { return tcp().idle(); }
  std::int64_t window() const { return tcp().congestion().size(); }  ///< bytes
  std::int64_t timeouts() const { return tcp().output().round_trip().timeouts(); }
  std::uint64_t acks_sent() const { return tcp().acknowledgements(); }
  /// Segments that went out, and that went out once more.
  std::int64_t segments() const { return tcp().output().segments(); }
  std::int64_t copies() const { return tcp().output().copies(); }
  /// Copies of what was there already.
  std::int64_t duplicates() const { return arrived() - tcp().receiver().next(); }
  /// Each that went out was dropped, lost, or arrived.
  bool conserves() const { return segments() + copies() == dropped() + lost() + arrived(); }
};

/// One over that wire; `lost`, `lost_acks`: numbers of segments and acknowledgements, in the order
/// in which they are sent.
inline LoneStream stream_over(double bits_per_second, double way,
                              const TransportSettings& transport, std::vector<std::uint64_t> lost,
                              std::vector<std::uint64_t> lost_acks = {}) {
  const Cluster cluster = wire(bits_per_second, way);
  const std::vector<ChannelId> route{0};
  return {TcpPath(cluster, route, transport), transport, LossSequence(std::move(lost)),
          LossSequence(std::move(lost_acks))};
}

/// Sends `segments` whole ones at `begin`; how long until they have arrived (and are the front
/// message, if what came before is drained).
inline double send(LoneStream& tcp, int segments, double begin = 0) {
  tcp.run(begin);
  tcp.write(begin, 1, segments * 1448);
  for (;;) {
    const double next = tcp.next_event();
    REQUIRE(next < FluidStream::kNever);
    tcp.run(next);
    if (tcp.delivered(next)) return next - begin;
  }
}

/// Until nothing happens any more; messages are taken.
inline void drain(LoneStream& tcp) {
  while (tcp.next_event() < FluidStream::kNever) {
    const double next = tcp.next_event();
    tcp.run(next);
    while (tcp.delivered(next)) tcp.pop();
  }
}

}  // namespace gradwire::sim::testing
