#include "emulator/shaper/wire_network.h"

#include <utility>

namespace gradwire::emulator {

WireNetwork::WireNetwork(const std::vector<Channel>& channels, std::vector<std::vector<int>> routes,
                         std::uint64_t seed)
    : routes_(std::move(routes)) {
  std::uint32_t number = 0;
  for (const Channel& channel : channels) {
    Link link{channel, sim::Bottleneck(channel.queue),
              sim::LossSequence(channel.loss, sim::LossDraws(seed, number++, 0))};
    link.bottleneck.set_rate(0, channel.rate);
    links_.push_back(std::move(link));
  }
}

void WireNetwork::enter(std::uint32_t frame, double bytes, std::int32_t route, double time) {
  ++counts_.entered;
  moves_.push({time, 0, frame, static_cast<float>(bytes), route, 0});
}

/// Whether it reaches the channel's other end; when, is in `move`.
bool WireNetwork::cross(Move& move) {
  const auto& route = routes_[static_cast<std::size_t>(move.route)];
  Link& link = links_[static_cast<std::size_t>(route[static_cast<std::size_t>(move.hop)])];
  if (!link.bottleneck.pass(move.time, static_cast<double>(move.bytes))) {
    ++counts_.dropped;
    return false;
  }
  if (lossy_ && link.losses.next()) {
    ++counts_.lost;
    return false;
  }
  move.time = link.bottleneck.departure() + link.channel.delay;
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
