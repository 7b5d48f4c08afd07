#include "sim/flow/per_packet/wire_link.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/cluster/channel_draws.h"
#include "sim/cluster/link_kind.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::sim {
namespace {

constexpr double kFraming = RateFollower::kFraming;

double segment_of(const TransportSettings& transport) {
  return static_cast<double>(transport.wire_segment.count());
}

}  // namespace

WireLink::WireLink(const Cluster& cluster, ChannelId id, const TransportSettings& transport,
                   std::uint64_t seed, PacketEvents& events, std::shared_ptr<Medium> medium)
    : PacketLink(cluster, id, seed),
      events_(events),
      id_(id),
      rate_(std::round(cluster.nominal_rate(id).value()) / 8),  // whole bits/s, as ns-3's links
      delay_(whole_nanoseconds(cluster.channel(id).delay.value())),
      queue_(codel_times(segment_of(transport) / rate_, transport.constants), segment_of(transport),
             kFraming,
             FairQueue::room(cluster.nominal_rate(id), cluster.channel(id).delay,
                             segment_of(transport))),
      medium_(std::move(medium)),
      jitter_(cluster.channel(id).jitter.value()),
      draws_(channel_stream(seed, id, kJitterDraws)) {
  const Link& link = cluster.link_of(id);
  const LinkSpec& spec = cluster.channel(id);
  changes_ = RateFollower::is_needed(link, id);
  const bool kernel = transport.protocol == TransportSettings::Protocol::kTcp &&
                      transport.constants.kernel_recovery;
  if (const auto limit = static_cast<double>(spec.queue.count()); limit > 0) {
    queue_.set_limit(kernel ? std::numeric_limits<double>::infinity() : limit);
    if (kernel) most_ = limit;
  }
  if (is_plain(link.spec) && !kernel) return;
  clock_.emplace(spec, link.schedule(id));
  if (!medium_) medium_ = std::make_shared<Medium>();
}

/// What was no event, as nothing hung on it, has happened.
void WireLink::settle() {
  if (is_busy_ && !through_is_event_ && events_.has_passed(through_)) is_busy_ = false;
  if (!wakes_ || wake_is_event_ || !events_.has_passed(wake_)) return;
  wakes_ = is_stopped_ = false;
  FairQueue::Passed none;
  queue_.leave(events_.seconds(), none);
}

void WireLink::push(std::int32_t flow, const Packet& packet) {
  if (!clock_) settle();
  if (most_ > 0) {
    if (!fits(packet.wire)) return;
    waiting_ += packet.wire;
  }
  queue_.push(flow, {events_.seconds(), packet.number, packet.wire, packet.sent});
  if (wakes_ && !std::exchange(wake_is_event_, true))
    events_.push({.of = id_, .kind = PacketEvent::Kind::kWakes}, wake_);
  run();
}

/// Beside what is in the queue and on the wire.
bool WireLink::fits(std::int32_t wire) const {
  double on_wire = is_stopped_ ? sending_.packet.wire : 0;
  if (is_stopped_ && !changes_)
    on_wire = std::max(0.0, static_cast<double>(sending_ends_ - events_.now()) / 1e9 * rate_);
  return on_wire + waiting_ + wire <= most_;
}

/// The device takes what it can.
void WireLink::run() {
  FairQueue::Passed passed;
  while (!is_stopped_ && queue_.leave(events_.seconds(), passed)) {
    is_stopped_ = true;
    if (clock_) {
      if (most_ > 0) waiting_ -= passed.packet.wire;
      sending_ = passed;
      request();
    } else {
      send(passed);
    }
    if (queue_.empty()) return;
  }
}

void WireLink::send(const FairQueue::Passed& passed) {
  if (!is_busy_) {
    start(passed);
    return;
  }
  place_ = passed;
  if (!std::exchange(through_is_event_, true))
    events_.push({.of = id_, .kind = PacketEvent::Kind::kThrough}, through_);
}

void WireLink::start(const FairQueue::Passed& passed) {
  const double wire = passed.packet.wire;
  wakes_ = true;
  wake_ = events_.reserve(events_.now());
  wake_is_event_ = !queue_.empty();
  if (wake_is_event_) events_.push({.of = id_, .kind = PacketEvent::Kind::kWakes}, wake_);
  const std::int64_t sent = whole_nanoseconds((wire - kFollowingBytes) / rate_);
  const std::int64_t takes = sent + whole_nanoseconds(kFollowingBytes / rate_);
  is_busy_ = true;
  through_ = events_.reserve(events_.now() + takes);
  through_is_event_ = false;
  count({passed.packet.number, passed.packet.wire});
  busy_ns_ += takes;
  arrive_at(events_.now() + sent + delay_, passed);
}

void WireLink::arrive_at(std::int64_t time, const FairQueue::Passed& passed) {
  const PacketEvents::Key key = events_.reserve(time);
  const FairQueue::Packet& packet = passed.packet;
  if (coming_.empty()) events_.push({.of = id_, .kind = PacketEvent::Kind::kArrives}, key);
  coming_.push({key, {passed.flow, {packet.number, packet.wire, packet.sent}}});
}

PacketLink::Arrival WireLink::on_arrival() {
  const Arrival arrival = coming_.front().arrival;
  coming_.pop();
  if (!coming_.empty())
    events_.push({.of = id_, .kind = PacketEvent::Kind::kArrives}, coming_.front().key);
  return arrival;
}

void WireLink::on_wake() {
  wakes_ = wake_is_event_ = is_stopped_ = false;
  run();
}

void WireLink::on_through() {
  if (clock_) {
    release();
    is_stopped_ = false;
    run();
    return;
  }
  settle();
  is_busy_ = through_is_event_ = false;
  if (!place_) return;
  const FairQueue::Passed next = *place_;
  place_.reset();
  start(next);
}

/// The medium is this direction's at once, or when its turn comes.
void WireLink::request() {
  if (medium_->is_busy) {
    medium_->waiting = this;
    return;
  }
  medium_->is_busy = true;
  begin();
}

void WireLink::release() {
  medium_->is_busy = false;
  if (WireLink* next = std::exchange(medium_->waiting, nullptr)) next->request();
}

void WireLink::begin() {
  const std::int64_t now = events_.now();
  const std::int32_t wire = sending_.packet.wire;
  const std::int64_t session = events_.session_now();
  const std::int64_t ends =
      clock_->end_of(session, Bytes(wire), Bytes(wire - static_cast<std::int32_t>(kFraming)));
  count({sending_.packet.number, wire});
  const std::int64_t end = sending_ends_ =
      ends < ChannelClock::kNever ? now + ends - session : ends;
  if (end >= ChannelClock::kNever) return;  // it waits for ever
  busy_ns_ += end - now;
  const double late = jitter_ > 0 ? jitter_ * static_cast<double>(uniform(draws_, drawn_++)) : 0;
  last_arrival_ =
      std::max(last_arrival_, end + whole_nanoseconds(static_cast<double>(delay_) / 1e9 + late));
  arrive_at(last_arrival_, sending_);
  events_.push({.time = end, .of = id_, .kind = PacketEvent::Kind::kThrough});
}

}  // namespace gradwire::sim
