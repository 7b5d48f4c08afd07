// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_output.h"

#include <ns3/ipv4-l3-protocol.h>
#include <ns3/simulator.h>
#include <ns3/trace-helper.h>

#include <filesystem>
#include <fstream>

#include "base/folder.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kCaptured = 128;  // bytes of a packet: its headers; payloads are zeros

/// Names of files have no slashes.
std::string file_name(std::string name) {
  for (char& letter : name)
    if (letter == '/') letter = '_';
  return name + ".pcap";
}

void refuse_unless_writable(const std::string& path) {
  if (!std::ofstream(path).good())
    throw SimError("write", path, "it cannot be created", "name a place that exists");
}

}  // namespace

Ns3Output::Ns3Output(const ExecutorOptions& options, const std::vector<Host>& hosts,
                     const SessionClock& clock)
    : clock_(clock), flow_monitor_file_(options.flow_monitor) {
  if (!options.pcap_folder.empty()) {
    make_folder(options.pcap_folder);
    for (const Host& host : hosts) capture(options.pcap_folder, host);
  }
  if (!flow_monitor_file_.empty()) {
    refuse_unless_writable(flow_monitor_file_);
    for (const Host& host : hosts) flow_monitor_.Install(host.node);
  }
}

/// What the host's IP layer sends and receives, on all its links.
void Ns3Output::capture(const std::string& folder, const Host& host) {
  const std::string path = (std::filesystem::path(folder) / file_name(host.name)).string();
  refuse_unless_writable(path);
  const auto ip = host.node->GetObject<ns3::Ipv4L3Protocol>();
  captures_[ip] = ns3::PcapHelper().CreateFile(path, std::ios::out | std::ios::binary,
                                               ns3::PcapHelper::DLT_RAW, kCaptured);
  for (const char* trace : {"Tx", "Rx"})
    ip->TraceConnectWithoutContext(trace, ns3::MakeCallback(&Ns3Output::write, this));
}

void Ns3Output::write(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4> ipv4, std::uint32_t) {
  if (clock_.setting_up) return;
  const ns3::Time now = ns3::Simulator::Now() - ns3::NanoSeconds(clock_.offset);
  captures_.at(ipv4)->Write(now, packet);
}

void Ns3Output::finish() {
  for (const auto& [ip, file] : captures_) file->Close();
  if (flow_monitor_file_.empty()) return;
  flow_monitor_.GetMonitor()->CheckForLostPackets();
  flow_monitor_.SerializeToXmlFile(flow_monitor_file_, true, false);
}

}  // namespace gradwire::sim
