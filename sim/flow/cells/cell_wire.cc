#include "sim/flow/cells/cell_wire.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kWireFraming = 38;  // bytes that a queue does not count
constexpr std::int64_t kMostQueued = 10'240;

}  // namespace

CellWire::CellWire(const Link& link, ChannelId channel, const TransportSettings& transport,
                   const RandomStream& draws)
    : rate_(link.nominal_rate(channel).value() / 8),
      delay_(link.spec.delay.value()),
      jitter_(link.spec.jitter.value()),
      limit_(static_cast<double>(link.spec.queue.count())),
      draws_(draws),
      fair_(codel_times(static_cast<double>(transport.wire_segment.count()) / rate_,
                        transport.constants),
            static_cast<double>(transport.wire_segment.count()), kWireFraming, kMostQueued) {
  if (!RateFollower::is_needed(link, channel)) return;
  const RateFollower follower(link, channel, static_cast<double>(transport.wire_segment.count()));
  fair_.set_wire(follower);
  changing_.emplace(follower);
}

double CellWire::through(double begin, double bytes) {
  return changing_ ? changing_->through(begin, bytes) : begin + bytes / rate_;
}

/// None overtakes another.
double CellWire::arrival(double departure) {
  double time = departure + delay_;
  if (jitter_ > 0) time += jitter_ * static_cast<double>(uniform(draws_, drawn_++));
  return last_arrival_ = std::max(last_arrival_, time);
}

bool CellWire::push(double now, std::int32_t flow, const CellPacket& packet, Passed& passed) {
  if (limit_ <= 0) {
    std::int64_t number = 0;
    if (free_.empty()) {
      number = static_cast<std::int64_t>(kept_.size());
      kept_.push_back(packet);
    } else {
      number = free_.back();
      free_.pop_back();
      kept_[static_cast<std::size_t>(number)] = packet;
    }
    fair_.push(flow, {now, number, packet.wire, 0});
    return true;
  }
  if ((free_at_ - now) * rate_ > limit_) return false;
  const double begin = std::max(now, free_at_);
  free_at_ = through(begin, packet.wire);
  busy_ += free_at_ - begin;
  passed.emplace_back(arrival(free_at_), packet);
  return true;
}

void CellWire::run(double now, Passed& passed) {
  const FairQueue::Passed one = fair_.take(now, rate_);
  fair_.dropped().clear();  // their places are not used again
  const auto number = static_cast<std::size_t>(one.packet.number);
  free_.push_back(one.packet.number);
  busy_ += one.packet.wire / rate_;
  passed.emplace_back(arrival(one.departure), kept_[number]);
}

}  // namespace gradwire::sim
