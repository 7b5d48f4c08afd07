// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/error-model.h>
#include <ns3/packet.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/philox.h"
#include "sim/cluster/link.h"

namespace gradwire::sim {

/// Losses of one channel: independent ones, and the bursts of its Gilbert-Elliott chain
/// (BurstLoss), drawn as sim/cluster/channel_draws.h says; a chain moves by word 2k + 1. Packets
/// that pass while it is disabled count for nothing.
class PacketLoss final : public ns3::ErrorModel {
 public:
  static ns3::TypeId GetTypeId();
  /// `header`: bytes before a packet's IP header. `first_host`: the address of host 0; others
  /// follow.
  PacketLoss(const LinkSpec& spec, std::uint64_t seed, ChannelId channel, std::uint32_t header,
             std::uint32_t first_host);
  void on_lost(std::function<void(ns3::Ptr<const ns3::Packet>)> callback) {
    lost_ = std::move(callback);
  }

 private:
  bool DoCorrupt(ns3::Ptr<ns3::Packet> packet) override;
  void DoReset() override;
  bool loses_next();

  /// A connection's data, or its acknowledgements.
  struct Way {
    std::uint32_t source = 0;  ///< host, of the data
    std::uint32_t destination = 0;
    bool acknowledges = false;
    auto operator<=>(const Way&) const = default;
  };
  std::optional<Way> way_of(const ns3::Packet& packet) const;
  bool loses_of(const Way& way);

  double good_loss_;
  BurstLoss burst_;
  std::uint64_t seed_;
  ChannelId channel_;
  RandomStream stream_;
  std::uint32_t header_;
  std::uint32_t first_host_;
  std::map<Way, std::uint64_t> passed_;  ///< packets
  std::function<void(ns3::Ptr<const ns3::Packet>)> lost_;
  std::uint64_t packets_ = 0;
  bool bad_ = false;
};

}  // namespace gradwire::sim
