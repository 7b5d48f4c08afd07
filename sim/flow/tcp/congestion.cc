#include "sim/flow/tcp/congestion.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kCubicScale = 0.4;
constexpr double kCubicBeta = 0.7;
constexpr double kRenoBeta = 0.5;
constexpr std::int64_t kLeastThreshold = 2;    // segments
constexpr std::int64_t kFirstGrowth = 20;      // acknowledged segments for one, before any loss
constexpr std::int64_t kLeastAcks = 2;         // acknowledged segments for one, at best
constexpr std::int64_t kFriendlyEighths = 15;  // 8 (1 + beta) / 3 / (1 - beta), whole
constexpr std::int64_t kTrainWindow = 16;      // segments
constexpr int kRiseSamples = 8;
constexpr double kLookAgain = 1.0 / 32;  // s

}  // namespace

CongestionWindow::CongestionWindow(const TransportSettings& transport)
    : constants_(&shared_constants(transport.constants)),
      segment_(transport.segment.count()),
      size_(transport.initial_window * transport.segment.count()),
      cubic_(transport.congestion_control == TransportSettings::CongestionControl::kCubic),
      paced_(transport.congestion_control == TransportSettings::CongestionControl::kBbr) {}

double CongestionWindow::beta(const TransportSettings& transport) {
  return transport.congestion_control == TransportSettings::CongestionControl::kCubic ? kCubicBeta
                                                                                      : kRenoBeta;
}

void CongestionWindow::start_round(double now, std::int64_t sent) {
  round_start_ = last_ack_ = now;
  round_end_ = sent;
  round_least_ = kUnknown;
  samples_ = 0;
}

void CongestionWindow::acknowledged(double now, double round_trip) {
  if (!cubic_) return;
  if (epoch_ != kUnknown && now - epoch_ < constants_->settle_time) return;
  if (least_round_trip_ == kUnknown || least_round_trip_ > round_trip)
    least_round_trip_ = round_trip;
  if (size_ <= threshold_ && size_ >= kTrainWindow * segment_ && !found_)
    watch_trains(now, round_trip);
}

void CongestionWindow::watch_trains(double now, double round_trip) {
  if (now - last_ack_ <= constants_->train_gap) {
    last_ack_ = now;
    found_ = now - round_start_ >
             constants_->train_share * (least_round_trip_ + constants_->train_slack);
  }
  if (samples_ < kRiseSamples) {
    if (round_least_ == kUnknown || round_least_ > round_trip) round_least_ = round_trip;
    ++samples_;
  } else if (round_least_ >
             least_round_trip_ + std::clamp(constants_->rise_share * least_round_trip_,
                                            constants_->least_rise, constants_->largest_rise)) {
    found_ = true;
  }
  if (found_) threshold_ = size_;
}

void CongestionWindow::grow(double now, std::int64_t segments, std::int64_t last,
                            std::int64_t sent) {
  if (paced_ || ((cubic_ || constants_->kernel_recovery) && !limited_)) return;
  if (size_ < threshold_) {
    if (cubic_ && !constants_->kernel_recovery && last > round_end_) start_round(now, sent);
    if (cubic_ && !constants_->kernel_recovery) {
      size_ += segments * segment_;
      return;
    }
    const std::int64_t before = size_;
    size_ = std::min(size_ + segments * segment_, threshold_);
    // Linux counts what is left towards the next segment; ns-3's Reno, which follows it, does not.
    if (!constants_->kernel_recovery) return;
    segments -= (size_ - before) / segment_;
  }
  if (segments <= 0 || size_ < threshold_ || !limited_) return;
  if (!cubic_) return grow_by(segments, this->segments());
  if (constants_->kernel_recovery) return grow_by(segments, remembered_acks(now, segments));
  counted_ += segments;
  const std::int64_t needed = acks_per_segment(now, segments);
  if (counted_ < needed) return;
  size_ += segment_;
  counted_ -= needed;
}

/// One segment for every `each` acknowledged.
void CongestionWindow::grow_by(std::int64_t acked, std::int64_t each) {
  if (counted_ >= each) {
    counted_ = 0;
    size_ += segment_;
  }
  counted_ += acked;
  if (counted_ < each) return;
  const std::int64_t more = counted_ / each;
  counted_ -= more * each;
  size_ += more * segment_;
}

void CongestionWindow::begin_epoch(double now, std::int64_t acked) {
  epoch_ = now;
  friendly_counted_ = acked;
  friendly_ = segments();
  const std::int64_t window = segments();
  origin_ = std::max(maximum_, window);
  plateau_ = std::cbrt(static_cast<double>(origin_ - window) / kCubicScale);
}

std::int64_t CongestionWindow::cubic_target(double now) const {
  const double t = now + least_round_trip_ - epoch_;
  const double away = std::abs(t - plateau_);
  const auto delta = static_cast<std::int64_t>(std::min(kCubicScale * away * away * away, 1e9));
  return t < plateau_ ? origin_ - delta : origin_ + delta;
}

/// Linux looks again when the window has changed, or after a while.
std::int64_t CongestionWindow::remembered_acks(double now, std::int64_t acked) {
  const std::int64_t window = segments();
  if (window == looked_at_ && now - looked_ <= kLookAgain) {
    friendly_counted_ += acked;
    return needed_;
  }
  looked_at_ = window;
  looked_ = now;
  needed_ = acks_per_segment(now, acked);
  return needed_;
}

std::int64_t CongestionWindow::acks_per_segment(double now, std::int64_t acked) {
  const std::int64_t window = segments();
  if (epoch_ == kUnknown) {
    begin_epoch(now, acked);
  } else {
    friendly_counted_ += acked;
  }
  const std::int64_t target = cubic_target(now);
  std::int64_t needed = target > window ? window / (target - window) : 100 * window;
  if (maximum_ == 0) needed = std::min(needed, kFirstGrowth);
  const std::int64_t each = window * kFriendlyEighths / 8;
  while (friendly_counted_ > each) {
    friendly_counted_ -= each;
    ++friendly_;
  }
  if (friendly_ > window) needed = std::min(needed, window / (friendly_ - window));
  return std::max(needed, kLeastAcks);
}

void CongestionWindow::cut() {
  if (paced_) return;
  const std::int64_t window = segments();
  if (constants_->kernel_recovery) counted_ = 0;
  if (cubic_) {
    const bool shrinking = window < maximum_;
    maximum_ = shrinking
                   ? static_cast<std::int64_t>(static_cast<double>(window) * (1 + kCubicBeta) / 2)
                   : window;
    epoch_ = kUnknown;
    threshold_ = std::max(static_cast<std::int64_t>(static_cast<double>(window) * kCubicBeta),
                          kLeastThreshold) *
                 segment_;
  } else {
    const std::int64_t size = constants_->kernel_recovery ? window / 2 * 2 * segment_ : size_;
    threshold_ = std::max(kLeastThreshold * segment_,
                          static_cast<std::int64_t>(static_cast<double>(size) * kRenoBeta));
  }
}

void CongestionWindow::restart(std::int64_t bytes) {
  threshold_ = std::max(threshold_, 3 * size_ / 4);
  size_ = std::min(size_, bytes);
}

void CongestionWindow::waste(std::int64_t used) {
  if (used < size_) restart((size_ + used) / 2 / segment_ * segment_);
}

void CongestionWindow::collapse(double now, std::int64_t sent) {
  size_ = segment_;
  if (!cubic_) return;
  // In ns-3, W_max, and what counts towards the next segment, outlive a timeout.
  if (constants_->kernel_recovery) maximum_ = looked_at_ = 0;
  least_round_trip_ = kUnknown;
  found_ = false;
  start_round(now, sent);
}

}  // namespace gradwire::sim
