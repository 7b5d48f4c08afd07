// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/channel.h>
#include <ns3/error-model.h>
#include <ns3/mac48-address.h>
#include <ns3/net-device.h>
#include <ns3/packet.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "sim/cluster/channel_clock.h"
#include "sim/packet/program/session_clock.h"

namespace gradwire::sim {

class LinkDevice;

/// What the two ends of a half-duplex link share: one of them sends at a time, in turns while both
/// have something to send. (ns-3's CSMA would add collisions, back-off and address resolution to a
/// medium of which the cluster says nothing but its rate.)
class SharedMedium {
 public:
  /// The device begins at once, or when its turn comes.
  void request(LinkDevice* device);
  /// The device is through; the other one begins if it waits.
  void release();

 private:
  LinkDevice* waiting_ = nullptr;
  bool busy_ = false;
};

/// One end of a link that ns-3's own point-to-point device cannot be: its rate follows a schedule
/// or a trace, it goes out, it jitters, or both directions share one medium (sim/cluster/link.h). A
/// transmitter of one packet behind a queue disc, which needs a NetDeviceQueueInterface aggregated
/// to the device; packets travel without a header of this layer and are charged the Ethernet
/// framing that `framing` says.
///
/// A packet arrives when its last byte is through, `delay` and its own jitter later, and never
/// before the one ahead of it. While connections are being set up (SessionClock) the link has its
/// mean rate and delay, and nothing else.
class LinkDevice final : public ns3::NetDevice {
 public:
  struct Settings {
    LinkSpec spec;
    RateSchedulePtr schedule;  ///< of this direction
    ChannelId channel = 0;
    std::uint64_t seed = 1;
    Bytes framing{38};
    const SessionClock* clock = nullptr;
  };
  /// A packet is sent, and how long the link is busy with it.
  using Sent = std::function<void(ns3::Ptr<const ns3::Packet>, Seconds)>;

  static ns3::TypeId GetTypeId();
  LinkDevice(const Settings& settings, std::shared_ptr<SharedMedium> medium);
  void connect(ns3::Ptr<LinkDevice> peer) { peer_ = peer; }
  void on_sent(Sent callback) { sent_ = std::move(callback); }
  /// For packets that arrive here.
  void set_loss(ns3::Ptr<ns3::ErrorModel> loss) { loss_ = loss; }
  /// The medium is this device's now.
  void begin();

  bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address&, std::uint16_t protocol) override;
  bool SendFrom(ns3::Ptr<ns3::Packet> packet, const ns3::Address&, const ns3::Address& to,
                std::uint16_t protocol) override {
    return Send(packet, to, protocol);
  }
  bool SupportsSendFrom() const override { return false; }
  void SetReceiveCallback(ReceiveCallback callback) override { receive_ = callback; }
  void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override { promisc_ = callback; }

  void SetIfIndex(std::uint32_t index) override { index_ = index; }
  std::uint32_t GetIfIndex() const override { return index_; }
  ns3::Ptr<ns3::Channel> GetChannel() const override { return nullptr; }
  void SetAddress(ns3::Address address) override;
  ns3::Address GetAddress() const override { return address_; }
  bool SetMtu(std::uint16_t mtu) override;
  std::uint16_t GetMtu() const override { return mtu_; }
  bool IsLinkUp() const override { return true; }
  void AddLinkChangeCallback(ns3::Callback<void>) override {}
  bool IsBroadcast() const override { return true; }
  ns3::Address GetBroadcast() const override { return ns3::Mac48Address::GetBroadcast(); }
  bool IsMulticast() const override { return false; }
  ns3::Address GetMulticast(ns3::Ipv4Address) const override { return GetBroadcast(); }
  ns3::Address GetMulticast(ns3::Ipv6Address) const override { return GetBroadcast(); }
  bool IsBridge() const override { return false; }
  bool IsPointToPoint() const override { return true; }
  bool NeedsArp() const override { return false; }
  ns3::Ptr<ns3::Node> GetNode() const override { return node_; }
  void SetNode(ns3::Ptr<ns3::Node> node) override { node_ = node; }

 private:
  void DoDispose() override;
  std::int64_t end_of_transmission(ns3::Ptr<const ns3::Packet> packet);
  std::int64_t delay_of_next();
  void transmitted();
  void receive(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol);

  Settings settings_;
  ChannelClock channel_clock_;
  std::shared_ptr<SharedMedium> medium_;
  ns3::Ptr<LinkDevice> peer_;
  ns3::Ptr<ns3::ErrorModel> loss_;
  Sent sent_;
  ns3::Ptr<ns3::Packet> packet_;  ///< that waits for the medium, or is being sent
  std::uint16_t protocol_ = 0;
  std::uint64_t jitter_draws_ = 0;
  std::int64_t last_arrival_ = 0;  ///< at the peer, on ns-3's clock
  ns3::Ptr<ns3::Node> node_;
  ns3::Mac48Address address_;
  std::uint16_t mtu_ = 1500;
  std::uint32_t index_ = 0;
  ReceiveCallback receive_;
  PromiscReceiveCallback promisc_;
};

}  // namespace gradwire::sim
