#include "sim/flow/per_packet/air/wifi_air.h"

#include <algorithm>
#include <cmath>

#include "sim/cluster/wifi_schemes.h"
#include "sim/flow/per_packet/air/wifi_frames.h"

namespace gradwire::sim {
namespace {

using namespace wifi;

/// Of two senders whose slots begin so close together neither hears the other: s.
constexpr double kOneSlot = 4e-6;

}  // namespace

WifiAir::WifiAir(const Cell& cell, std::vector<const Link*> links, const RandomStream& draws)
    : cell_(cell), links_(std::move(links)), draws_(draws), nodes_(links_.size() + 1) {
  nodes_.front().queues.resize(links_.size());
  nodes_.front().signals.resize(links_.size());
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    nodes_[i].queues.resize(1);
    nodes_[i].signals.resize(1);
  }
  for (const Station& station : cell_.stations) moves_ = moves_ || station.speed != 0;
  for (const Link* link : links_) has_outages_ = has_outages_ || !link->spec.outages.empty();
  std::vector<double> powers;
  for (std::size_t i = 0; i < nodes_.size() && !moves_; ++i)
    for (std::size_t j = 0; j < nodes_.size(); ++j) powers.push_back(power(i, j, 0));
  powers_ = std::move(powers);
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    nodes_[i].signals[0] = power(i, 0, 0) / noise(1);
    nodes_.front().signals[i - 1] = power(0, i, 0) / noise(1);
  }
}

bool WifiAir::reaches(std::size_t station, double now) const {
  return air_rate(cell_, distance_at(cell_.stations[station], session(now)), true) > 0 &&
         outage(*links_[station], now) == nullptr;
}

void WifiAir::draw_slots(Node& node, double now) {
  const int window = ((kLeastSlots + 1) << std::min(node.failures, kMostDoublings)) - 1;
  const auto u = static_cast<double>(uniform(draws_, drawn_++));
  node.slots = std::min(window, static_cast<int>(u * (window + 1)));
  node.start = now;
}

/// Slots that have passed in silence until `now`.
void WifiAir::count_down(Node& node, double now) {
  const double start = std::max(node.start, node.grant);
  if (start > now) return;
  const int passed = std::min(node.slots, static_cast<int>((now - start) / kSlot) + 1);
  node.slots -= passed;
  node.start = start + passed * kSlot;
}

/// s: when its count is over; infinite: it may not send, or has nothing.
double WifiAir::access(std::size_t number) const {
  const Node& node = nodes_[number];
  if (!has_frames(node) || node.was_busy || node.awaits) return kNever;
  const double time = std::max(node.start, node.grant) + node.slots * kSlot;
  if (!has_outages_) return time;
  const Outage* const away = number > 0 ? outage(*links_[number - 1], time) : nullptr;
  return away ? end_of(*away) : time;
}

bool WifiAir::push(double now, std::size_t station, bool up, AirPacket packet) {
  Node& node = nodes_[up ? station + 1 : 0];
  if (node.waiting >= kQueue) return false;
  look_again();
  packet.came = now;
  const bool begins = !has_frames(node) && !node.awaits;
  node.queues[up ? 0 : station].push_back(packet);
  ++node.waiting;
  if (!begins) return true;
  next_access_.reset();
  if (!node.was_busy) count_down(node, now);
  if (node.slots > 0) return true;
  if (node.was_busy) {
    draw_slots(node, now);
  } else if (now > node.grant) {  // the next slot
    node.start = node.grant + (std::floor((now - node.grant) / kSlot) + 1) * kSlot;
  }
  return true;
}

/// s: when its next packet has arrived, where it has several.
double WifiAir::next_passage(const Frame& frame) const {
  if (frame.packets == 1 || frame.passed >= frame.packets) return kNever;
  const Node& from = nodes_[frame.from];
  const double bits =
      8.0 * static_cast<double>(framed(frame.bytes, from.queues[from.to][frame.passed].wire));
  return std::min(frame.begin + kPreamble + bits / frame.rate, frame.end);
}

double WifiAir::find_next_event() const {
  double next = kNever;
  for (const Frame& frame : frames_) next = std::min({next, next_passage(frame), frame.end});
  for (const Due& due : dues_) next = std::min(next, due.time);
  if (!next_access_) {
    next_access_ = kNever;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      next_access_ = std::min(*next_access_, access(i));
  }
  return std::min(next, *next_access_);
}

/// A packet of it has been in the air: it has arrived where the receiver can read it.
void WifiAir::pass(Frame& frame, std::vector<AirPacket>& through) {
  Node& from = nodes_[frame.from];
  const AirPacket& packet = from.queues[from.to][frame.passed];
  frame.bytes = framed(frame.bytes, packet.wire);
  const Node& to = nodes_[frame.to];
  const bool reads = to.hears == frame.number && to.ratio >= frame.need;
  if (reads && from.arrived == frame.passed) {
    ++from.arrived;
    through.push_back(packet);
  }
  ++frame.passed;
}

void WifiAir::run(std::vector<AirPacket>& through) {
  const double now = next_event();
  look_again();
  for (Frame& frame : frames_) {
    if (next_passage(frame) > now) continue;
    pass(frame, through);
    return;
  }
  next_access_.reset();
  const auto over = std::ranges::find_if(frames_, [&](const Frame& f) { return f.end <= now; });
  if (over != frames_.end()) {
    for (Frame& each : frames_)
      if (each.end <= now && !each.acknowledges && each.signal == 0)
        each.signal = signal_of(each, now);
    Frame frame = *over;
    frames_.erase(over);
    // What comes alone is there when the medium is silent: who sends it on need not draw slots.
    if (frame.packets == 1) pass(frame, through);
    end(frame);
    return;
  }
  const auto due = std::ranges::find_if(dues_, [&](const Due& d) { return d.time <= now; });
  if (due == dues_.end()) {
    begin_turns(now);
    return;
  }
  const Due one = *due;
  dues_.erase(due);
  if (one.air > 0) {
    Frame response{.from = one.node, .to = one.to, .begin = now, .end = now + one.air};
    response.width = kControlWidth;
    response.need = kTaken;
    response.acknowledges = true;
    response.signal = one.signal;
    begin(now, {response});
  } else if (nodes_[one.node].turn == one.turn && nodes_[one.node].awaits) {
    fail(one.node, now);
  }
}

void WifiAir::drop_old(Node& node, double now) {
  for (std::size_t q = 0; q < node.queues.size(); ++q) {
    auto& queue = node.queues[q];
    while (!queue.empty() && now - queue.front().came > kLifetime) {
      queue.pop_front();
      --node.waiting;
      if (node.flight == 0 || q != node.to) continue;
      node.arrived -= node.arrived > 0;
      if (--node.flight == 0) node.asks = false;
    }
  }
}

/// The one whose first packet has waited longest.
void WifiAir::choose_receiver(Node& node) {
  if (node.flight > 0) return;
  double oldest = kNever;
  for (std::size_t q = 0; q < node.queues.size(); ++q) {
    if (node.queues[q].empty() || node.queues[q].front().came >= oldest) continue;
    oldest = node.queues[q].front().came;
    node.to = q;
  }
}

WifiAir::Frame WifiAir::turn_of(std::size_t number, double now) {
  Node& node = nodes_[number];
  choose_receiver(node);
  const std::size_t station = number > 0 ? number - 1 : node.to;
  const double possible = wifi_rate_at(cell_, 10 * std::log10(node.signals[node.to] / cell_.width));
  const bool gone = !reaches(station, now);
  Frame turn{.from = number, .to = number > 0 ? 0 : node.to + 1, .begin = now};
  turn.width = node.asks ? kControlWidth : cell_.width;
  turn.rate = std::max(possible, kLeastRate);
  turn.need = gone ? kNever : node.asks ? kTaken : from_decibels(wifi_scheme_snr(cell_, turn.rate));
  if (node.asks) {
    turn.end = now + kAsking;
    return turn;
  }
  std::int64_t bytes = 0;
  for (const AirPacket& packet : node.queues[node.to]) {
    const std::int64_t more = framed(bytes, packet.wire);
    const bool fits = more <= kMostBytes && air_time(more, turn.rate) <= kMostAir;
    if (turn.packets > 0 && (!fits || turn.packets >= kMostPackets)) break;
    bytes = more;
    ++turn.packets;
  }
  node.flight = turn.packets;
  turn.end = now + air_time(bytes, turn.rate);
  return turn;
}

void WifiAir::begin_turns(double now) {
  std::vector<Frame> turns;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const double time = access(i);
    if (time > now + kOneSlot) continue;
    Node& node = nodes_[i];
    node.slots = 0;
    drop_old(node, now);
    if (!has_frames(node)) continue;
    turns.push_back(turn_of(i, time));
    node.awaits = true;
    ++node.turn;
  }
  begin(now, std::move(turns));
}

void WifiAir::succeed(std::size_t number, double now, double signal) {
  Node& node = nodes_[number];
  node.signals[node.to] = signal;
  auto& queue = node.queues[node.to];
  queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(node.arrived));
  node.waiting -= node.arrived;
  node.flight = node.arrived = 0;
  node.asks = node.awaits = false;
  node.failures = 0;
  draw_slots(node, now);
}

void WifiAir::fail(std::size_t number, double now) {
  Node& node = nodes_[number];
  node.awaits = false;
  node.failures = node.failures < kMostTries ? node.failures + 1 : 0;
  node.asks = node.flight > 1;
  node.grant = std::max(node.grant, now + kAifs);
  draw_slots(node, now);
}

}  // namespace gradwire::sim
