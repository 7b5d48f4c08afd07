// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/event-id.h>

#include <cstdint>
#include <vector>

namespace gradwire::sim {

class DatagramConnection;

/// One host's datagrams: its connections take turns, so that together they never send faster than
/// the host's link, nor any of them faster than the slowest link of its way. (Nothing else holds
/// UDP back: unpaced, nearly all of a long message would be lost in the host's own queue.)
class DatagramSender {
 public:
  /// Called whenever a connection has something to send that had nothing.
  void wake(DatagramConnection& connection);
  void remove(DatagramConnection& connection);

 private:
  void send_next();

  std::vector<DatagramConnection*> active_;
  std::size_t turn_ = 0;
  std::int64_t link_free_ = 0;  ///< ns
  ns3::EventId next_;
};

}  // namespace gradwire::sim
