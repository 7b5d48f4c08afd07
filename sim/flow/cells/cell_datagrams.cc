// Datagrams of a cell network: who sends when, and what ends.
#include <algorithm>

#include "sim/flow/cells/cell_network.h"

namespace gradwire::sim {

std::int32_t CellNetwork::add_datagrams(const DatagramFlow::Way& way, std::int32_t host,
                                        std::span<const ChannelId> route, LossSequence data) {
  Connection& added = add_on(route, std::move(data), LossSequence(0, {}));
  added.datagrams = std::make_unique<DatagramFlow>(way);
  added.host = host;
  const auto place = static_cast<std::size_t>(host);
  while (senders_.size() <= place) senders_.emplace_back();
  sender_nodes_.resize(senders_.size());
  senders_[place].set_rate(cluster_.nominal_rate(route.front()).value() / 8);
  return added.number;
}

/// It has something to send.
void CellNetwork::wake(double now, Connection& owner) {
  senders_[static_cast<std::size_t>(owner.host)].wake(owner.number, *owner.datagrams);
  sending_.set(owner.host, now);
}

/// Of all hosts that may send now, one each.
void CellNetwork::send_datagrams(double now) {
  sending_.take_until(now, batch_);
  for (const IndexedHeap::Entry& entry : batch_) {
    DatagramSender& sender = senders_[static_cast<std::size_t>(entry.number)];
    Datagram sent;
    if (const std::int32_t c = sender.send(now, sent); c >= 0) {
      touched_.push_back(c);
      enter(now, {.connection = c, .number = sent.number, .wire = sent.wire});
    }
    const double next = sender.next_event();
    if (next < kNever) sending_.set(entry.number, std::max(now, next));
  }
}

/// What has ended at its receiver, and when it waits no longer.
void CellNetwork::look_at_datagrams(Connection& one, std::vector<Ended>& ended) {
  for (Ended& each : one.datagrams->take_ended()) {
    each.connection = one.number;
    ended.push_back(std::move(each));
  }
  const double next = one.datagrams->deadline();
  if (next < kNever) {
    due_.set(one.number, next);
  } else {
    due_.remove(one.number);
  }
}

}  // namespace gradwire::sim
