// Connections over the air of radio cells: packet by packet (cells/cell_network.h).
#include <algorithm>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {

/// The connection that was added last, whose way is in route_.
void FlowNetwork::open_in_cell(std::int32_t c, int source) {
  in_cell_.resize(static_cast<std::size_t>(c) + 1, -1);
  if (!CellNetwork::is_needed(cluster_, route_)) return;
  const Connection& connection = connection_at(c);
  of_cell_.push_back(c);
  if (transport_.protocol == TransportSettings::Protocol::kUdpLossy) {
    in_cell_.back() = cells_->add_datagrams(datagram_way(cluster_, route_, transport_), source,
                                            route_, losses(route_, connection.key, false));
    return;
  }
  auto stream = std::make_unique<TcpStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), connection.path), transport_,
      LossSequence(0, {}), LossSequence(0, {}));
  const std::vector<ChannelId> back = way_back(route_);
  in_cell_.back() = cells_->add(std::move(stream), route_, losses(route_, connection.key, false),
                                losses(back, connection.key, true));
}

void FlowNetwork::run_cells(double until) {
  ended_.clear();
  cells_->run(until, ended_);
  end_messages(of_cell_);
}

/// What it has sent arrives all the same, and then it is freed.
void FlowNetwork::cancel_in_cell(std::int32_t number) {
  const std::int32_t c = transfer(number).connection;
  cells_->cancel(now_, in_cell_[static_cast<std::size_t>(c)], static_cast<std::uint64_t>(number));
}

}  // namespace gradwire::sim
