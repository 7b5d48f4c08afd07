// SPDX-License-Identifier: GPL-2.0-only
#include <ns3/arp-cache.h>
#include <ns3/double.h>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/sta-wifi-mac.h>
#include <ns3/string.h>
#include <ns3/wifi-net-device.h>
#include <ns3/yans-wifi-channel.h>
#include <ns3/yans-wifi-helper.h>

#include "sim/packet/program/radio_cell.h"

namespace gradwire::sim {
namespace {

constexpr double kLeastRssi = -95;             // dBm
constexpr std::uint16_t kNoProtocol = 0x88b5;  // IEEE 802: for local experiments

/// ns-3's YansWifi: 802.11ax at 5 GHz, one spatial stream, log-distance path loss. Rates follow the
/// SNR (IdealWifiManager; Minstrel-HT left stations that never finish). Neighbours know each
/// other's hardware addresses: a lost ARP packet would hang a station for long. A station forgets
/// them when it associates, and is told again.
class WifiCell final : public RadioCell {
 public:
  explicit WifiCell(CellNodes nodes) : RadioCell(std::move(nodes)) {
    motion_.place_base(nodes_.base);
    for (std::size_t i = 0; i < nodes_.stations.size(); ++i) motion_.place(i, nodes_.stations[i]);
    ns3::YansWifiPhyHelper phy;
    phy.SetChannel(channel());
    // ns-3 would hear nothing below -82 dBm, where real receivers still do at low rates.
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                  ns3::DoubleValue(kLeastRssi));
    const auto megahertz = static_cast<int>(nodes_.cell.width / 1e6 + 0.5);
    phy.Set("ChannelSettings",
            ns3::StringValue("{0, " + std::to_string(megahertz) + ", BAND_5GHZ, 0}"));
    ns3::WifiHelper wifi;
    wifi.SetStandard(ns3::WIFI_STANDARD_80211ax);
    wifi.SetRemoteStationManager("ns3::IdealWifiManager");
    const ns3::SsidValue name(ns3::Ssid("gradwire"));
    ns3::WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", name);
    base_ = wifi.Install(phy, mac, nodes_.base).Get(0);
    mac.SetType("ns3::StaWifiMac", "Ssid", name);
    ns3::NodeContainer stations;
    for (const auto& node : nodes_.stations) stations.Add(node);
    stations_ = wifi.Install(phy, mac, stations);
    introduce();
  }

  ns3::Ptr<ns3::NetDevice> station_device(std::size_t station) const override {
    return stations_.Get(static_cast<std::uint32_t>(station));
  }
  ns3::Ptr<ns3::NetDevice> base_device() const override { return base_; }
  ns3::Ipv4Address gateway() const override { return nodes_.base_address; }
  bool connected(std::size_t station) const override {
    const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(station_device(station));
    return ns3::DynamicCast<ns3::StaWifiMac>(device->GetMac())->IsAssociated();
  }
  /// A frame each way, for block acknowledgement is agreed upon with the first one.
  void greet(std::size_t station) override {
    const auto device = station_device(station);
    device->Send(ns3::Create<ns3::Packet>(1), base_->GetAddress(), kNoProtocol);
    base_->Send(ns3::Create<ns3::Packet>(1), device->GetAddress(), kNoProtocol);
  }

 private:
  ns3::Ptr<ns3::YansWifiChannel> channel() const {
    ns3::YansWifiChannelHelper helper;
    helper.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    helper.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent",
                              ns3::DoubleValue(nodes_.cell.exponent), "ReferenceLoss",
                              ns3::DoubleValue(radio_of(Cell::Kind::kWifi).reference_loss));
    return helper.Create();
  }

  static void know(ns3::Ptr<ns3::NetDevice> device, std::uint32_t interface,
                   ns3::Ipv4Address address, ns3::Ptr<ns3::NetDevice> neighbour) {
    const auto ip = device->GetNode()->GetObject<ns3::Ipv4L3Protocol>();
    const auto cache = ip->GetInterface(interface)->GetArpCache();
    ns3::ArpCache::Entry* entry = cache->Lookup(address);
    if (!entry) entry = cache->Add(address);
    entry->SetMacAddress(neighbour->GetAddress());
    entry->MarkPermanent();
  }

  void introduce() {
    const std::uint32_t at_base = add_interface(base_, nodes_.base_address);
    for (std::size_t i = 0; i < nodes_.stations.size(); ++i) {
      const auto device = station_device(i);
      interfaces_.push_back(add_interface(device, nodes_.addresses[i]));
      know(base_, at_base, nodes_.addresses[i], device);
      device->AddLinkChangeCallback(ns3::MakeCallback(&WifiCell::know_base, this));
    }
    know_base();
  }

  void know_base() {
    for (std::size_t i = 0; i < interfaces_.size(); ++i)
      know(station_device(i), interfaces_[i], nodes_.base_address, base_);
  }

  ns3::Ptr<ns3::NetDevice> base_;
  ns3::NetDeviceContainer stations_;
  std::vector<std::uint32_t> interfaces_;  ///< of stations, by which they reach the base
};

}  // namespace

std::unique_ptr<RadioCell> make_wifi_cell(CellNodes nodes) {
  return std::make_unique<WifiCell>(std::move(nodes));
}

}  // namespace gradwire::sim
