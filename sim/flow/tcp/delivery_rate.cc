#include "sim/flow/tcp/delivery_rate.h"

#include <algorithm>

namespace gradwire::sim {

void DeliveryRate::sent(double now, std::int64_t number, bool idle) {
  if (idle) first_sent_ = delivered_time_ = now;
  const Notes notes{now, first_sent_, delivered_time_, total_, limited_until_ > 0};
  const auto n = static_cast<std::uint64_t>(number);
  if (n == notes_.end()) {
    notes_.push(notes);
  } else {
    notes_[n] = notes;
  }
}

void DeliveryRate::delivered(double now, std::int64_t number, std::int64_t bytes) {
  Notes& notes = notes_[static_cast<std::uint64_t>(number)];
  if (notes.delivered_time == kDelivered) return;
  total_ += bytes;
  delivered_time_ = now;
  if (sample_.prior_delivered == 0 || notes.delivered > sample_.prior_delivered) {
    sample_.prior_delivered = notes.delivered;
    sample_.limited = notes.limited;
    has_notes_ = true;
    ack_elapsed_ = now - notes.delivered_time;
    send_elapsed_ = notes.sent - notes.first_sent;
    first_sent_ = notes.sent;
  }
  notes.delivered_time = kDelivered;
}

void DeliveryRate::forget_before(std::int64_t number) {
  while (notes_.begin() < static_cast<std::uint64_t>(number)) notes_.pop();
}

void DeliveryRate::limit(std::int64_t in_flight) {
  limited_until_ = std::max<std::int64_t>(total_ + in_flight, 1);
}

const RateSample& DeliveryRate::sample(double least_round_trip) {
  if (total_ > limited_until_) limited_until_ = 0;
  const double interval = std::max(send_elapsed_, ack_elapsed_);
  sample_.known = has_notes_;
  sample_.timed = has_notes_ && interval >= least_round_trip;
  has_notes_ = sample_.timed;
  if (!sample_.timed) return sample_;
  const auto bytes = static_cast<double>(total_ - sample_.prior_delivered);
  const bool faster = bytes * recorded_time_ >= static_cast<double>(recorded_) * interval;
  if (sample_.limited && !faster) return sample_;
  recorded_ = total_ - sample_.prior_delivered;
  recorded_time_ = interval;
  sample_.rate = static_cast<std::int64_t>(8 * bytes / interval);
  return sample_;
}

}  // namespace gradwire::sim
