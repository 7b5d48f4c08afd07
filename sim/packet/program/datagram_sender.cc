// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/datagram_sender.h"

#include <ns3/simulator.h>

#include <algorithm>
#include <limits>

#include "sim/packet/program/datagram_connection.h"

namespace gradwire::sim {
namespace {

std::int64_t now_ns() {
  return ns3::Simulator::Now().GetNanoSeconds();
}

}  // namespace

void DatagramSender::wake(DatagramConnection& connection) {
  if (std::find(active_.begin(), active_.end(), &connection) == active_.end())
    active_.push_back(&connection);
  next_.Cancel();
  next_ = ns3::Simulator::ScheduleNow(&DatagramSender::send_next, this);
}

void DatagramSender::remove(DatagramConnection& connection) {
  std::erase(active_, &connection);
}

/// Sends one datagram of the next connection in turn that may, and comes back when another may.
void DatagramSender::send_next() {
  std::erase_if(active_, [](const DatagramConnection* each) { return !each->has_more(); });
  if (active_.empty()) return;
  std::int64_t soonest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; link_free_ <= now_ns() && i < active_.size(); ++i) {
    turn_ = (turn_ + 1) % active_.size();
    DatagramConnection& connection = *active_[turn_];
    if (connection.next_time() > now_ns()) continue;
    link_free_ = now_ns() + connection.send_one();
    break;
  }
  for (const DatagramConnection* each : active_)
    if (each->has_more()) soonest = std::min(soonest, each->next_time());
  if (soonest == std::numeric_limits<std::int64_t>::max()) return;
  const std::int64_t at = std::max({soonest, link_free_, now_ns()});
  next_ =
      ns3::Simulator::Schedule(ns3::NanoSeconds(at - now_ns()), &DatagramSender::send_next, this);
}

}  // namespace gradwire::sim
