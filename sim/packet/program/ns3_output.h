// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/flow-monitor-helper.h>
#include <ns3/ipv4.h>
#include <ns3/packet.h>
#include <ns3/pcap-file-wrapper.h>

#include <map>
#include <string>
#include <vector>

#include "sim/packet/program/session_clock.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// What a session writes beside its answers: a capture for each host, and ns-3's flow monitor.
class Ns3Output {
 public:
  struct Host {
    std::string name;
    ns3::Ptr<ns3::Node> node;
  };
  /// Throws SimError for files that cannot be written. `clock` must outlive this.
  Ns3Output(const ExecutorOptions& options, const std::vector<Host>& hosts,
            const SessionClock& clock);
  Ns3Output(const Ns3Output&) = delete;
  Ns3Output& operator=(const Ns3Output&) = delete;
  /// Writes what is only known at the end. Call once, last.
  void finish();

 private:
  void capture(const std::string& folder, const Host& host);
  void write(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4, std::uint32_t);

  const SessionClock& clock_;
  std::map<ns3::Ptr<ns3::Ipv4>, ns3::Ptr<ns3::PcapFileWrapper>> captures_;
  std::string flow_monitor_file_;
  ns3::FlowMonitorHelper flow_monitor_;
};

}  // namespace gradwire::sim
