// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/packet_loss.h"

#include <ns3/tcp-l4-protocol.h>

#include <array>

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {
namespace {

/// Bytes of IP's header without options, as ns-3 sends it, and of TCP's up to the byte that says
/// how long it is.
constexpr std::uint32_t kHeaders = 20 + 13;
constexpr std::uint32_t kMostHeaders = kHeaders + 16;

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(PacketLoss);

ns3::TypeId PacketLoss::GetTypeId() {
  static const ns3::TypeId id =
      ns3::TypeId("gradwire::PacketLoss").SetParent<ns3::ErrorModel>().SetGroupName("Gradwire");
  return id;
}

PacketLoss::PacketLoss(const LinkSpec& spec, std::uint64_t seed, ChannelId channel,
                       std::uint32_t header, std::uint32_t first_host)
    : good_loss_(spec.loss),
      burst_(spec.burst),
      seed_(seed),
      channel_(channel),
      stream_(channel_stream(seed, channel, kLossDraws)),
      header_(header),
      first_host_(first_host) {}

/// Nothing: it is no TCP.
std::optional<PacketLoss::Way> PacketLoss::way_of(const ns3::Packet& packet) const {
  std::array<std::uint8_t, kMostHeaders> bytes{};
  const std::uint32_t got = packet.CopyData(bytes.data(), header_ + kHeaders);
  if (got < header_ + kHeaders) return std::nullopt;
  const std::uint8_t* const ip = bytes.data() + header_;
  if (ip[9] != ns3::TcpL4Protocol::PROT_NUMBER) return std::nullopt;
  const auto word = [ip](int at) {
    return std::uint32_t{ip[at]} << 24 | std::uint32_t{ip[at + 1]} << 16 |
           std::uint32_t{ip[at + 2]} << 8 | std::uint32_t{ip[at + 3]};
  };
  const std::uint32_t ip_header = 4 * (ip[0] & 15u);
  const std::uint32_t tcp_header = 4 * (std::uint32_t{ip[ip_header + 12]} >> 4);
  const bool is_empty = (word(0) & 0xFFFFu) <= ip_header + tcp_header;
  const std::uint32_t from = word(12) - first_host_, to = word(16) - first_host_;
  return is_empty ? Way{to, from, true} : Way{from, to, false};
}

bool PacketLoss::loses_of(const Way& way) {
  const RandomStream draws =
      connection_losses(seed_, channel_, way.source, way.destination, way.acknowledges);
  return uniform(draws, passed_[way]++) < good_loss_;
}

bool PacketLoss::loses_next() {
  const std::uint64_t word = 2 * packets_++;
  const bool lost = uniform(stream_, word) < (bad_ ? burst_.loss : good_loss_);
  if (burst_.enter > 0) {
    const bool moves = uniform(stream_, word + 1) < (bad_ ? burst_.leave : burst_.enter);
    bad_ = bad_ != moves;
  }
  return lost;
}

bool PacketLoss::DoCorrupt(ns3::Ptr<ns3::Packet> packet) {
  if (!IsEnabled()) return false;
  const std::optional<Way> way = burst_.enter > 0 ? std::nullopt : way_of(*packet);
  const bool lost = way ? loses_of(*way) : loses_next();
  if (lost && lost_) lost_(packet);
  return lost;
}

void PacketLoss::DoReset() {
  packets_ = 0;
  passed_.clear();
  bad_ = false;
}

}  // namespace gradwire::sim
