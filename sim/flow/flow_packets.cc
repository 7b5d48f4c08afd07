// Connections over wires that are simulated packet by packet (per_packet/per_packet_network.h).
#include <utility>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {

/// A connection that is not TCP's: it has no windows, and loses nothing as a fluid.
void FlowNetwork::open_plain(Connection& connection, TcpPath& path) {
  path.loss = path.ack_loss = 0;
  connection.is_open = true;
  if (transport_.protocol == TransportSettings::Protocol::kIdeal) path.forwarding = 0;
}

/// Before the first connection.
void FlowNetwork::carry_by_packets(const TransportSettings& transport, double clock) {
  packets_ = std::make_unique<PerPacketNetwork>(cluster_, transport, seed_, clock);
}

/// Others' traffic, which begins beside a pair's own connection, is TCP's.
void FlowNetwork::open_by_packets(std::int32_t c, int source, int destination) {
  Connection& connection = connection_at(c);
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  const auto beside = static_cast<int>(connection.key / (hosts * hosts));
  connection.packets = transport_.protocol == TransportSettings::Protocol::kTcp || beside > 0
                           ? packets_->add_stream(source, destination, beside)
                           : packets_->add_datagrams(source, destination);
  of_packets_.push_back(c);
}

void FlowNetwork::run_packets(double until) {
  ended_.clear();
  packets_->run(until, ended_);
  end_messages(of_packets_);
}

/// Of `connections`, by their numbers in ended_.
void FlowNetwork::end_messages(const std::vector<std::int32_t>& connections) {
  for (EndedMessage& each : ended_) {
    const std::int32_t c = connections[static_cast<std::size_t>(each.connection)];
    const auto number = static_cast<std::int32_t>(each.id);
    if (!each.missing.empty()) {
      Transfer& t = transfer(number);
      t.missing = take_missing();
      missing_[static_cast<std::size_t>(t.missing)] = std::move(each.missing);
    }
    deliver_first(connection_at(c), {number, Bytes(each.wire), each.retransmissions});
  }
}

std::int32_t FlowNetwork::take_missing() {
  if (free_missing_.empty()) {
    missing_.emplace_back();
    return static_cast<std::int32_t>(missing_.size()) - 1;
  }
  const std::int32_t number = free_missing_.back();
  free_missing_.pop_back();
  missing_[static_cast<std::size_t>(number)].clear();
  return number;
}

void FlowNetwork::free_missing(Transfer& t) {
  free_missing_.push_back(t.missing);
  t.missing = -1;
}

}  // namespace gradwire::sim
