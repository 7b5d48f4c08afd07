#include "sim/flow/tcp_window.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-6;  // of a segment
constexpr double kLeastWindow = 2;  // segments, after a cut

}  // namespace

TcpWindow::TcpWindow(const TcpPath& path, const TransportSettings& transport)
    : size_(0),
      round_trip_(path.round_trip),
      line_rate_(path.line_rate),
      segment_(static_cast<double>(transport.wire_segment.count())),
      delayed_ack_(transport.delayed_ack.value()),
      limit_(static_cast<double>(wire_bytes(transport.buffer, transport).count())),
      cubic_(transport.congestion_control == TransportSettings::CongestionControl::kCubic),
      lossy_(path.loss > 0) {
  size_ = std::min(limit_, transport.initial_window * segment_);
}

void TcpWindow::begin(double now) {
  if (!lossy_ && size_ >= round_trip_ * line_rate_) {
    open();
  } else if (now >= round_end_) {
    // The last round's acknowledgements found nothing to send. They grow W all the same where the
    // last segment had filled it, which slow start's own growth prevents.
    const bool counts = lossy_ && limited_ && counted_ < 0 && now >= frozen_until_;
    if (counts && size_ >= threshold_) avoid_congestion(quota_ - std::max(0.0, left_), now);
    limited_ = false;
    open_round(now);
  }
}

void TcpWindow::next_round(double now, double rate, double backlog) {
  if (round_end_ >= 0 && std::isfinite(left_)) {
    const double used = counted_ >= 0 ? counted_ : quota_ - std::max(0.0, left_);
    if (counted_ >= 0 || now >= frozen_until_) grow(used, now, rate, backlog);
  }
  limited_ = true;
  open_round(now);
  if (lossy_) return;
  if (size_ >= kOpenPipes * round_trip_ * rate || size_ >= round_trip_ * line_rate_) open();
}

void TcpWindow::open_round(double now) {
  round_end_ = now + round_trip_;
  left_ = quota_ = size_ + carried_;
  if (lossy_) {  // whole segments; one alone is acknowledged late
    left_ = quota_ = segment_ * std::floor(quota_ / segment_ + kRounding);
    if (quota_ < kSegmentsPerAck * segment_) round_end_ += delayed_ack_;
  }
  carried_ = 0;
  counted_ = -1;
}

void TcpWindow::grow(double used, double now, double rate, double backlog) {
  if (size_ < threshold_) {
    // Acknowledgements come for two segments and release four, until nothing is left.
    const double ack = kSegmentsPerAck * segment_;
    const double counted = lossy_ ? ack * std::ceil(backlog / (2 * ack)) : backlog / 2;
    if (2 * used >= size_) slow_start(used, std::min(used, counted), rate);
  } else if (used >= std::min(size_, quota_) || (counted_ >= 0 && left_ <= 0)) {
    avoid_congestion(used, now);
  }
  size_ = std::min(size_, limit_);
}

void TcpWindow::avoid_congestion(double acked, double now) {
  if (cubic_) {
    grow_cubic(acked, now);
  } else {
    size_ += segment_ * std::min(1.0, acked / size_);
  }
  size_ = std::min(size_, limit_);
}

void TcpWindow::slow_start(double used, double acked, double rate) {
  const bool full = used >= round_trip_ * rate && (cubic_ || !lossy_);
  size_ += std::max(0.0, first_round_ ? acked - segment_ : acked);
  size_ = std::min(size_, threshold_);
  first_round_ = false;
  const bool one_train = cubic_ && round_trip_ - used / line_rate_ <= kHystartSilence;
  if (full || (one_train && size_ >= kHystartSegments * segment_)) threshold_ = size_;
}

void TcpWindow::grow_cubic(double acked, double now) {
  if (!lossy_) {
    size_ += kCubicFirstGrowth * std::min(size_, acked);
    return;
  }
  const double window = size_ / segment_;
  const double segments = std::min(window, acked / segment_);
  if (epoch_ < 0) {
    epoch_ = now;
    friendly_ = window;
    origin_ = std::max(maximum_, window);
    plateau_ = std::cbrt((origin_ - window) / kCubicScale);
  }
  const double t = now + round_trip_ - epoch_ - plateau_;
  const double ahead = origin_ + std::trunc(kCubicScale * t * t * t) - window;
  friendly_ += kCubicFriendly * segments / window;
  double growth = std::max(ahead > 0 ? segments * ahead / window : 0, friendly_ - window);
  if (maximum_ <= 0) growth = std::max(growth, kCubicFirstGrowth * segments);
  size_ += segment_ * std::min(growth, segments / 2);
}

/// W_max at a loss, with fast convergence (RFC 8312, 4.6).
void TcpWindow::remember_maximum() {
  const double window = size_ / segment_;
  maximum_ = window < maximum_ ? window * (1 + kCubicBeta) / 2 : window;
  epoch_ = -1;
}

void TcpWindow::lose() {
  const bool first = counted_ < 0 && frozen_until_ < kInfinity;
  if (first) counted_ = quota_ - std::max(0.0, left_);
  frozen_until_ = kInfinity;
}

void TcpWindow::recover(double now, bool cut) {
  frozen_until_ = now + round_trip_;
  if (!cut) return;
  const double before = size_;
  remember_maximum();
  const double beta = cubic_ ? kCubicBeta : kRenoBeta;
  threshold_ = std::max(kLeastWindow, std::floor(beta * size_ / segment_)) * segment_;
  size_ = std::min(before, threshold_ + segment_);
  if (now < round_end_ && quota_ > 0) {
    const double sent = 1 - std::clamp(left_ / quota_, 0.0, 1.0);
    carried_ = sent * (before - size_);
  }
}

void TcpWindow::collapse(double now, bool alone, bool pending) {
  const double beta = cubic_ ? kCubicBeta : kRenoBeta;
  threshold_ = std::max(kLeastWindow, std::floor(beta * size_ / segment_)) * segment_;
  maximum_ = 0;
  epoch_ = -1;
  size_ = segment_;
  quota_ = pending ? segment_ : 0;  // the retransmission; its acknowledgement may release data
  round_end_ = now + round_trip_ + (alone ? delayed_ack_ : 0);
  left_ = carried_ = 0;
  counted_ = -1;
  frozen_until_ = -1;
}

}  // namespace gradwire::sim
