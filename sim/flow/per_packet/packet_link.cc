#include "sim/flow/per_packet/packet_link.h"

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

PacketLink::PacketLink(const Cluster& cluster, ChannelId id, const TransportSettings& transport,
                       std::uint64_t seed, PacketEvents& events, std::shared_ptr<Medium> medium)
    : events_(events),
      id_(id),
      rate_(std::round(cluster.nominal_rate(id).value()) / 8),  // whole bits/s, as ns-3's links
      delay_(whole_nanoseconds(cluster.channel(id).delay.value())),
      queue_(codel_times(segment_of(transport) / rate_, transport.constants), segment_of(transport),
             kFraming,
             FairQueue::room(cluster.nominal_rate(id), cluster.channel(id).delay,
                             segment_of(transport))),
      loss_(BurstChain::is_needed(cluster.channel(id)) ? 0 : cluster.channel(id).loss),
      medium_(std::move(medium)),
      jitter_(cluster.channel(id).jitter.value()),
      draws_(channel_stream(seed, id, kJitterDraws)) {
  const Link& link = cluster.link_of(id);
  const LinkSpec& spec = cluster.channel(id);
  queue_.set_apart();
  changes_ = RateFollower::is_needed(link, id);
  const bool kernel = transport.protocol == TransportSettings::Protocol::kTcp &&
                      transport.constants.kernel_recovery;
  if (const auto limit = static_cast<double>(spec.queue.count()); limit > 0) {
    queue_.set_limit(kernel ? std::numeric_limits<double>::infinity() : limit);
    if (kernel) most_ = limit;
  }
  if (spec.mean_loss() > 0)
    losses_ = std::make_unique<BurstChain>(spec, channel_stream(seed, id, kLossDraws));
  if (is_plain(link.spec) && !kernel) return;
  clock_.emplace(spec, link.schedule(id));
  if (!medium_) medium_ = std::make_shared<Medium>();
}

std::int32_t PacketLink::add_flow(const Flow& flow) {
  flows_.push_back(flow);
  return queue_.add_flow(static_cast<std::int32_t>(flows_.size()) - 1);
}

std::int32_t PacketLink::add_flow(Flow flow, const RandomStream& draws) {
  if (loss_ > 0) {
    flow.losses = static_cast<std::int32_t>(own_losses_.size());
    own_losses_.push_back({draws, 0});
  }
  return add_flow(flow);
}

bool PacketLink::loses(const Flow& flow) {
  if (flow.losses < 0) return losses_ && losses_->next();
  Losses& own = own_losses_[static_cast<std::size_t>(flow.losses)];
  const std::uint64_t place = own.packets++ % 4;
  if (place == 0)
    own.words = philox_block(own.draws, static_cast<std::uint32_t>((own.packets - 1) / 4));
  return uniform_from_word(own.words.word[place]) < loss_;
}

/// What was no event, as nothing hung on it, has happened.
void PacketLink::settle() {
  if (is_busy_ && !through_is_event_ && events_.has_passed(through_)) is_busy_ = false;
  if (!wakes_ || wake_is_event_ || !events_.has_passed(wake_)) return;
  wakes_ = is_stopped_ = false;
  FairQueue::Passed none;
  queue_.leave(events_.seconds(), none);
}

void PacketLink::push(std::int32_t flow, const Packet& packet) {
  if (!clock_) settle();
  if (most_ > 0) {
    if (!fits(packet.wire)) {
      queue_.dropped().push_back(flow);
      return;
    }
    waiting_ += packet.wire;
  }
  queue_.push(flow, {events_.seconds(), packet.number, packet.wire, packet.sent});
  if (wakes_ && !std::exchange(wake_is_event_, true))
    events_.push({.of = id_, .kind = PacketEvent::Kind::kWakes}, wake_);
  run();
}

/// Beside what is in the queue and on the wire.
bool PacketLink::fits(std::int32_t wire) const {
  double on_wire = is_stopped_ ? sending_.packet.wire : 0;
  if (is_stopped_ && !changes_)
    on_wire = std::max(0.0, static_cast<double>(sending_ends_ - events_.now()) / 1e9 * rate_);
  return on_wire + waiting_ + wire <= most_;
}

/// The device takes what it can.
void PacketLink::run() {
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

void PacketLink::send(const FairQueue::Passed& passed) {
  if (!is_busy_) {
    start(passed);
    return;
  }
  place_ = passed;
  if (!std::exchange(through_is_event_, true))
    events_.push({.of = id_, .kind = PacketEvent::Kind::kThrough}, through_);
}

void PacketLink::start(const FairQueue::Passed& passed) {
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
  wire_bytes_ += passed.packet.wire;
  busy_ns_ += takes;
  arrive_at(events_.now() + sent + delay_, passed);
}

void PacketLink::arrive_at(std::int64_t time, const FairQueue::Passed& passed) {
  const PacketEvents::Key key = events_.reserve(time);
  const FairQueue::Packet& packet = passed.packet;
  if (coming_.empty()) events_.push({.of = id_, .kind = PacketEvent::Kind::kArrives}, key);
  coming_.push({key, {passed.owner, {packet.number, packet.wire, packet.sent}}});
}

PacketLink::Arrival PacketLink::on_arrival() {
  const Arrival arrival = coming_.front().arrival;
  coming_.pop();
  if (!coming_.empty())
    events_.push({.of = id_, .kind = PacketEvent::Kind::kArrives}, coming_.front().key);
  return arrival;
}

void PacketLink::on_wake() {
  wakes_ = wake_is_event_ = is_stopped_ = false;
  run();
}

void PacketLink::on_through() {
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
void PacketLink::request() {
  if (medium_->is_busy) {
    medium_->waiting = this;
    return;
  }
  medium_->is_busy = true;
  begin();
}

void PacketLink::release() {
  medium_->is_busy = false;
  if (PacketLink* next = std::exchange(medium_->waiting, nullptr)) next->request();
}

void PacketLink::begin() {
  const std::int64_t now = events_.now();
  const std::int32_t wire = sending_.packet.wire;
  const std::int64_t end =
      clock_->end_of(now, Bytes(wire), Bytes(wire - static_cast<std::int32_t>(kFraming)));
  wire_bytes_ += wire;
  sending_ends_ = end;
  if (end >= ChannelClock::kNever) return;  // it waits for ever
  busy_ns_ += end - now;
  const double late = jitter_ > 0 ? jitter_ * static_cast<double>(uniform(draws_, drawn_++)) : 0;
  last_arrival_ =
      std::max(last_arrival_, end + whole_nanoseconds(static_cast<double>(delay_) / 1e9 + late));
  arrive_at(last_arrival_, sending_);
  events_.push({.time = end, .of = id_, .kind = PacketEvent::Kind::kThrough});
}

}  // namespace gradwire::sim
