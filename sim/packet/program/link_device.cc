// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/link_device.h"

#include <ns3/net-device-queue-interface.h>
#include <ns3/node.h>
#include <ns3/simulator.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {
namespace {

std::int64_t in_nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

}  // namespace

void SharedMedium::request(LinkDevice* device) {
  if (busy_) {
    waiting_ = device;
    return;
  }
  busy_ = true;
  device->begin();
}

void SharedMedium::release() {
  busy_ = false;
  if (LinkDevice* next = std::exchange(waiting_, nullptr)) request(next);
}

NS_OBJECT_ENSURE_REGISTERED(LinkDevice);

ns3::TypeId LinkDevice::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("gradwire::LinkDevice").SetParent<ns3::NetDevice>().SetGroupName("Gradwire");
  return id;
}

LinkDevice::LinkDevice(const Settings& settings, std::shared_ptr<SharedMedium> medium)
    : settings_(settings),
      channel_clock_(settings.spec, settings.schedule),
      medium_(std::move(medium)),
      address_(ns3::Mac48Address::Allocate()) {}

void LinkDevice::DoDispose() {
  peer_ = nullptr;
  loss_ = nullptr;
  packet_ = nullptr;
  node_ = nullptr;
  sent_ = nullptr;
  receive_ = ReceiveCallback();
  promisc_ = PromiscReceiveCallback();
  ns3::NetDevice::DoDispose();
}

void LinkDevice::SetAddress(ns3::Address address) {
  address_ = ns3::Mac48Address::ConvertFrom(address);
}

bool LinkDevice::SetMtu(std::uint16_t mtu) {
  mtu_ = mtu;
  return true;
}

bool LinkDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address&, std::uint16_t protocol) {
  GRADWIRE_ASSERT(!packet_);  // the queue was stopped
  packet_ = packet;
  protocol_ = protocol;
  GetObject<ns3::NetDeviceQueueInterface>()->GetTxQueue(0)->Stop();
  medium_->request(this);
  return true;
}

/// On ns-3's clock.
std::int64_t LinkDevice::end_of_transmission(ns3::Ptr<const ns3::Packet> packet) {
  const std::int64_t now = ns3::Simulator::Now().GetNanoSeconds();
  const Bytes size(packet->GetSize());
  const Bytes frame = size + settings_.framing;
  if (settings_.clock->setting_up) {
    const BitsPerSecond rate =
        settings_.schedule ? settings_.schedule->mean_rate() : settings_.spec.rate;
    return now + in_nanoseconds(transmission_time(frame, rate).value());
  }
  const std::int64_t end = channel_clock_.end_of(now - settings_.clock->offset, frame, size);
  return std::min(end + settings_.clock->offset, ChannelClock::kNever);
}

std::int64_t LinkDevice::delay_of_next() {
  double delay = settings_.spec.delay.value();
  if (settings_.spec.jitter.value() > 0 && !settings_.clock->setting_up) {
    const RandomStream stream = channel_stream(settings_.seed, settings_.channel, kJitterDraws);
    delay += settings_.spec.jitter.value() * uniform(stream, jitter_draws_++);
  }
  return in_nanoseconds(delay);
}

void LinkDevice::begin() {
  const std::int64_t now = ns3::Simulator::Now().GetNanoSeconds();
  const std::int64_t end = end_of_transmission(packet_);
  if (sent_) sent_(packet_, Seconds(static_cast<double>(end - now) * 1e-9));
  last_arrival_ = std::max(last_arrival_, end + delay_of_next());
  ns3::Simulator::ScheduleWithContext(peer_->node_->GetId(), ns3::NanoSeconds(last_arrival_ - now),
                                      &LinkDevice::receive, peer_, packet_, protocol_);
  ns3::Simulator::Schedule(ns3::NanoSeconds(end - now), &LinkDevice::transmitted, this);
}

void LinkDevice::transmitted() {
  packet_ = nullptr;
  medium_->release();
  GetObject<ns3::NetDeviceQueueInterface>()->GetTxQueue(0)->Wake();
}

void LinkDevice::receive(ns3::Ptr<ns3::Packet> packet, std::uint16_t protocol) {
  if (loss_ && loss_->IsCorrupt(packet)) return;
  if (!promisc_.IsNull())
    promisc_(this, packet, protocol, peer_->GetAddress(), GetAddress(), PACKET_HOST);
  receive_(this, packet, protocol, peer_->GetAddress());
}

}  // namespace gradwire::sim
