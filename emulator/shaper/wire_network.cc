#include "emulator/shaper/wire_network.h"

#include <algorithm>
#include <utility>

namespace gradwire::emulator {

WireNetwork::WireNetwork(const std::vector<Channel>& channels, std::vector<std::vector<int>> routes,
                         std::uint64_t seed)
    : routes_(std::move(routes)) {
  for (const Channel& channel : channels)
    channels_.emplace_back(channel, seed, static_cast<sim::ChannelId>(channels_.size()));
  for (const auto& route : routes_)
    follows_trace_.push_back(std::ranges::any_of(
        route, [&](int id) { return channels[static_cast<std::size_t>(id)].follows_trace(); }));
}

void WireNetwork::set_live(bool live, double epoch) {
  for (WireChannel& channel : channels_) channel.set_live(live, epoch);
}

void WireNetwork::enter(std::uint32_t frame, double bytes, std::int32_t route, double time) {
  ++counts_.entered;
  moves_.push({time, 0, frame, static_cast<float>(bytes), route, 0});
}

/// Whether it reaches the channel's other end; when, is in `move`.
bool WireNetwork::cross(Move& move) {
  const auto& route = routes_[static_cast<std::size_t>(move.route)];
  WireChannel& channel =
      channels_[static_cast<std::size_t>(route[static_cast<std::size_t>(move.hop)])];
  const WireChannel::Fate fate = channel.cross(move.time, static_cast<double>(move.bytes));
  if (fate == WireChannel::Fate::kDropped) ++counts_.dropped;
  if (fate == WireChannel::Fate::kLost) ++counts_.lost;
  if (fate != WireChannel::Fate::kPasses) return false;
  ++move.hop;
  return true;
}

void WireNetwork::advance(double now, std::vector<Exit>& exits) {
  while (!moves_.empty() && moves_.top().time <= now) {
    Move move = moves_.pop();
    if (move.hop == static_cast<int>(routes_[static_cast<std::size_t>(move.route)].size())) {
      ++counts_.left;
      exits.push_back({move.time, move.frame, move.route, false});
    } else if (cross(move)) {
      moves_.push(move);
    } else {
      exits.push_back({move.time, move.frame, move.route, true});
    }
  }
}

}  // namespace gradwire::emulator
