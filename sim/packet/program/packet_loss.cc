// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/packet_loss.h"

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {

NS_OBJECT_ENSURE_REGISTERED(PacketLoss);

ns3::TypeId PacketLoss::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("gradwire::PacketLoss").SetParent<ns3::ErrorModel>().SetGroupName("Gradwire");
  return id;
}

PacketLoss::PacketLoss(const LinkSpec& spec, std::uint64_t seed, ChannelId channel)
    : good_loss_(spec.loss),
      burst_(spec.burst),
      stream_(channel_stream(seed, channel, kLossDraws)) {}

bool PacketLoss::DoCorrupt(ns3::Ptr<ns3::Packet> packet) {
  if (!IsEnabled()) return false;
  const std::uint64_t word = 2 * packets_++;
  const bool lost = uniform(stream_, word) < (bad_ ? burst_.loss : good_loss_);
  if (burst_.enter > 0) {
    const bool moves = uniform(stream_, word + 1) < (bad_ ? burst_.leave : burst_.enter);
    bad_ = bad_ != moves;
  }
  if (lost && lost_) lost_(packet);
  return lost;
}

void PacketLoss::DoReset() {
  packets_ = 0;
  bad_ = false;
}

}  // namespace gradwire::sim
