#include "emulator/shaper/wire_channel.h"

#include <algorithm>
#include <cmath>

#include "sim/cluster/channel_draws.h"

namespace gradwire::emulator {
namespace {

/// Bytes of a frame on the wire that are none of its IP packet: header 14 and what surrounds it 24.
constexpr double kAroundPacket = 38;

sim::LinkSpec link_of(const WireChannel::Spec& spec) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8 * spec.rate);
  link.loss = spec.loss;
  link.burst = spec.burst;
  link.schedule_offset = Seconds(spec.schedule_offset);
  link.outages = spec.outages;
  return link;
}

/// Independent losses; a link that loses in bursts has them in its chain.
sim::LossSequence losses_of(const WireChannel::Spec& spec, std::uint64_t seed, sim::ChannelId id) {
  if (spec.loss <= 0 || spec.burst.enter > 0) return {};
  return sim::LossSequence({{sim::channel_stream(seed, id, sim::kLossDraws), spec.loss}});
}

}  // namespace

WireChannel::WireChannel(const Spec& spec, std::uint64_t seed, sim::ChannelId id)
    : spec_(spec),
      jitter_draws_(sim::channel_stream(seed, id, sim::kJitterDraws)),
      losses_(losses_of(spec, seed, id)) {
  codel_.times = spec.codel;
  if (spec.changes()) clock_.emplace(link_of(spec), spec.schedule);
  if (spec.has_flow_queues()) flow_queues_.emplace(spec.codel, spec.rate);
  if (spec.burst.enter > 0)
    bursts_.emplace(link_of(spec), sim::channel_stream(seed, id, sim::kLossDraws));
}

void WireChannel::set_live(bool live, double epoch) {
  live_ = live;
  epoch_ = epoch;
}

WireChannel::Fate WireChannel::cross(double& time, double bytes) {
  const std::optional<double> departs = wait(time, bytes);
  if (!departs) {
    ++counts_.dropped;
    return Fate::kDropped;
  }
  time = *departs;
  return fly(time, bytes);
}

WireChannel::Fate WireChannel::pass(double& time, double bytes) {
  counts_.busy += bytes / spec_.rate;
  return fly(time, bytes);
}

/// What becomes of a frame that the link has carried at `time`.
WireChannel::Fate WireChannel::fly(double& time, double bytes) {
  counts_.bytes += bytes;
  ++counts_.frames;
  if (live_ && loses()) {
    ++counts_.lost;
    return Fate::kLost;
  }
  last_reached_ = std::max(last_reached_, time + flight());
  time = last_reached_;
  return Fate::kPasses;
}

/// When the frame has left the queue and is through; none: the queue drops it.
std::optional<double> WireChannel::wait(double now, double bytes) {
  while (!waiting_.empty() && waiting_.front().departs <= now) {
    queued_ -= waiting_.front().bytes;
    waiting_.pop_front();
  }
  const double start = std::max(now, free_at_);
  const double before = spec_.changes() ? queued_ : (start - now) * spec_.rate;
  if (spec_.limit > 0 ? before + bytes > spec_.limit : codel_.drops(start, start - now))
    return std::nullopt;
  free_at_ = end_of(start, bytes);
  counts_.busy += free_at_ - start;
  waiting_.push_back({free_at_, bytes});
  queued_ += bytes;
  return free_at_;
}

double WireChannel::end_of(double start, double bytes) {
  if (!live_ || !clock_) return start + bytes / spec_.rate;
  const double since = std::max(0.0, start - epoch_);
  const std::int64_t end = clock_->end_of(std::llround(since * 1e9), Bytes(std::llround(bytes)),
                                          Bytes(std::llround(bytes - kAroundPacket)));
  return epoch_ + static_cast<double>(end) * 1e-9;
}

bool WireChannel::loses() {
  return bursts_ ? bursts_->next() : losses_.next();
}

double WireChannel::flight() {
  if (!live_ || spec_.jitter <= 0) return spec_.delay;
  return spec_.delay + spec_.jitter * static_cast<double>(uniform(jitter_draws_, jitters_++));
}

}  // namespace gradwire::emulator
