#include "emulator/shaper/wire_network.h"

#include <algorithm>
#include <utility>

namespace gradwire::emulator {

WireNetwork::WireNetwork(const std::vector<Channel>& channels, std::vector<std::vector<int>> routes,
                         std::uint64_t seed)
    : routes_(std::move(routes)) {
  for (const Channel& channel : channels)
    channels_.emplace_back(channel, seed, static_cast<sim::ChannelId>(channels_.size()));
  turn_is_due_.resize(channels.size(), false);
  for (const auto& route : routes_)
    follows_trace_.push_back(std::ranges::any_of(
        route, [&](int id) { return channels[static_cast<std::size_t>(id)].follows_trace(); }));
}

void WireNetwork::set_live(bool live, double epoch) {
  for (WireChannel& channel : channels_) channel.set_live(live, epoch);
}

void WireNetwork::enter(std::uint32_t frame, double bytes, std::int32_t route, double time,
                        std::uint32_t flow) {
  ++counts_.entered;
  moves_.push({time, 0, {frame, static_cast<float>(bytes), route, 0, flow}});
}

void WireNetwork::arrive(double time, const Passage& frame, std::vector<Exit>& exits) {
  const auto& route = routes_[static_cast<std::size_t>(frame.route)];
  if (frame.hop == static_cast<int>(route.size())) {
    ++counts_.left;
    exits.push_back({time, frame.frame, frame.route, false});
    return;
  }
  const int id = route[static_cast<std::size_t>(frame.hop)];
  WireChannel& channel = channels_[static_cast<std::size_t>(id)];
  FrameQueue* queue = channel.flow_queues();
  if (!queue) return cross(time, frame, channel, exits);
  queue->push(frame, time);
  wait_for_turn(id, time);
}

void WireNetwork::cross(double time, Passage frame, WireChannel& channel,
                        std::vector<Exit>& exits) {
  const double came = time;
  const WireChannel::Fate fate = channel.cross(time, static_cast<double>(frame.bytes));
  if (fate == WireChannel::Fate::kDropped) return drop(came, frame, exits);
  go_on(fate, time, frame, exits);
}

/// A channel has carried it.
void WireNetwork::go_on(WireChannel::Fate fate, double time, Passage frame,
                        std::vector<Exit>& exits) {
  if (fate == WireChannel::Fate::kLost) {
    ++counts_.lost;
    exits.push_back({time, frame.frame, frame.route, true});
    return;
  }
  ++frame.hop;
  moves_.push({time, 0, frame});
}

void WireNetwork::drop(double time, const Passage& frame, std::vector<Exit>& exits) {
  ++counts_.dropped;
  exits.push_back({time, frame.frame, frame.route, true});
}

void WireNetwork::wait_for_turn(int channel, double time) {
  const auto id = static_cast<std::size_t>(channel);
  const double turn = channels_[id].flow_queues()->next_turn();
  if (turn_is_due_[id] || !(turn < kNever)) return;
  turn_is_due_[id] = true;
  moves_.push({std::max(time, turn), 0, {0, 0, channel, -1, 0}});
}

void WireNetwork::take_turn(int id, double time, std::vector<Exit>& exits) {
  WireChannel& channel = channels_[static_cast<std::size_t>(id)];
  turn_is_due_[static_cast<std::size_t>(id)] = false;
  dropped_.clear();
  double reaches = 0;
  const Passage frame = channel.flow_queues()->take(time, reaches, dropped_);
  for (const Passage& gone : dropped_) {
    channel.note_drop();
    drop(time, gone, exits);
  }
  const WireChannel::Fate fate = channel.pass(reaches, static_cast<double>(frame.bytes));
  go_on(fate, reaches, frame, exits);
  wait_for_turn(id, time);
}

void WireNetwork::advance(double now, std::vector<Exit>& exits) {
  while (!moves_.empty() && moves_.top().time <= now) {
    const Move move = moves_.pop();
    if (move.frame.hop < 0)
      take_turn(move.frame.route, move.time, exits);
    else
      arrive(move.time, move.frame, exits);
  }
}

}  // namespace gradwire::emulator
