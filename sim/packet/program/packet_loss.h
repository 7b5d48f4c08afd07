// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/error-model.h>
#include <ns3/packet.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "base/philox.h"
#include "sim/cluster/link.h"

namespace gradwire::sim {

/// Losses of one channel: independent ones, and the bursts of its Gilbert-Elliott chain
/// (BurstLoss). Packet k draws its loss from word 2k of the channel's stream, then the chain moves
/// by word 2k + 1. Packets that pass while it is disabled count for nothing.
class PacketLoss final : public ns3::ErrorModel {
 public:
  static ns3::TypeId GetTypeId();
  PacketLoss(const LinkSpec& spec, std::uint64_t seed, ChannelId channel);
  void on_lost(std::function<void(ns3::Ptr<const ns3::Packet>)> callback) {
    lost_ = std::move(callback);
  }

 private:
  bool DoCorrupt(ns3::Ptr<ns3::Packet> packet) override;
  void DoReset() override;

  double good_loss_;
  BurstLoss burst_;
  RandomStream stream_;
  std::function<void(ns3::Ptr<const ns3::Packet>)> lost_;
  std::uint64_t packets_ = 0;
  bool bad_ = false;
};

}  // namespace gradwire::sim
