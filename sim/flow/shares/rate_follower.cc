#include "sim/flow/shares/rate_follower.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSameInstant = 1e-12;

bool is_reached(double time, double now) {
  return time <= now + now * kSameInstant;
}

}  // namespace

RateFollower::RateFollower(const Link& link, ChannelId channel, double wire_segment)
    : outages_(&link.spec.outages),
      offset_(link.spec.schedule_offset.value()),
      rate_(link.spec.rate.value() / 8) {
  if (const RateSchedulePtr& schedule = link.schedule(channel)) {
    pieces_ = &schedule->pieces();
    period_ = schedule->period().value();
    if (!schedule->opportunities().empty()) scale_ *= wire_segment / (wire_segment - kFraming);
  }
  seek(0);
}

void RateFollower::seek(double now) {
  now_ = now;
  outage_ = 0;
  if (pieces_ != nullptr) {
    const double at = now + offset_;
    cycle_ = period_ > 0 ? std::floor(at / period_) : 0;
    const double phase = std::max(0.0, at - cycle_ * period_);
    const auto after = std::upper_bound(
        pieces_->begin(), pieces_->end(), phase,
        [](double time, const RateSchedule::Piece& piece) { return time < piece.begin.value(); });
    piece_ = static_cast<std::size_t>(after - pieces_->begin()) - 1;
    take_piece();
  }
  advance(now);
}

double RateFollower::piece_end() const {
  if (pieces_ == nullptr) return kNever;
  if (piece_ + 1 < pieces_->size()) {
    return cycle_ * period_ + (*pieces_)[piece_ + 1].begin.value() - offset_;
  }
  return period_ > 0 ? (cycle_ + 1) * period_ - offset_ : kNever;
}

void RateFollower::advance(double now) {
  now_ = now;
  while (pieces_ != nullptr && is_reached(piece_end(), now)) {
    if (++piece_ == pieces_->size()) {
      piece_ = 0;
      ++cycle_;
    }
    take_piece();
  }
  while (outage_ < outages_->size() && is_reached((*outages_)[outage_].end.value(), now)) {
    ++outage_;
  }
}

bool RateFollower::in_outage() const {
  return outage_ < outages_->size() && is_reached((*outages_)[outage_].begin.value(), now_);
}

double RateFollower::next() const {
  if (outage_ == outages_->size()) return piece_end();
  const Outage& outage = (*outages_)[outage_];
  return std::min(piece_end(), in_outage() ? outage.end.value() : outage.begin.value());
}

}  // namespace gradwire::sim
