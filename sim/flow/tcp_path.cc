#include "sim/flow/tcp_path.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gradwire::sim {
namespace {

/// Stream of simulated losses (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kLossStream = kFirstReservedTensor + 0x10000000u;

double header_bytes(const TransportSettings& transport) {
  return static_cast<double>((transport.wire_segment - transport.segment).count());
}

double response_window(const TransportSettings& transport, double p, double round_trip) {
  if (p <= 0) return std::numeric_limits<double>::infinity();
  if (transport.congestion_control == TransportSettings::CongestionControl::kReno) {
    return kRenoResponse / std::sqrt(p);
  }
  return std::max(kRenoFriendly / std::sqrt(p), kCubicResponse * std::pow(round_trip / p, 0.75));
}

}  // namespace

TcpPath::TcpPath(const Cluster& cluster, std::span<const ChannelId> route,
                 const TransportSettings& transport)
    : PathCost(cluster, route) {
  if (transport.congestion_control == TransportSettings::CongestionControl::kBbr) {
    throw Error(ErrorKind::kCapability, "simulate", "congestion control bbr",
                "the flow executor models cubic and reno only", "use --executor packet");
  }
  const auto segment = static_cast<double>(transport.wire_segment.count());
  const double ack = header_bytes(transport);
  double kept = 1;
  for (const ChannelId id : route) {
    const LinkSpec& channel = cluster.channel(id);
    const double per_byte = 8 / channel.rate.value();
    round_trip += 2 * channel.delay.value() + per_byte * (segment + ack);
    kept *= 1 - channel.loss;
  }
  round_trip += segment / line_rate;
  loss = 1 - kept;
  response = response_window(transport, loss, round_trip);
}

double ack_share(const TransportSettings& transport) {
  return header_bytes(transport) /
         (kSegmentsPerAck * static_cast<double>(transport.wire_segment.count()));
}

TcpWindow::TcpWindow(const TcpPath& path, const TransportSettings& transport)
    : segment_(static_cast<double>(transport.wire_segment.count())),
      line_rate_(path.line_rate),
      round_trip_(path.round_trip),
      limit_(static_cast<double>(wire_bytes(transport.buffer, transport).count())),
      size_(std::min(limit_, transport.initial_window * segment_)),
      cubic_(transport.congestion_control == TransportSettings::CongestionControl::kCubic) {}

void TcpWindow::begin(double now) {
  if (size_ >= round_trip_ * line_rate_) {
    open();
  } else if (now >= round_end_) {
    next_round(now, line_rate_);
  }
}

void TcpWindow::next_round(double now, double rate) {
  if (round_end_ >= 0 && std::isfinite(left_)) grow(size_ - std::max(0.0, left_), rate);
  round_end_ = now + round_trip_;
  left_ = size_;
  if (size_ >= kOpenPipes * round_trip_ * rate || size_ >= round_trip_ * line_rate_) open();
}

void TcpWindow::grow(double used, double rate) {
  if (slow_start_ && 2 * used >= size_) {
    if (used >= round_trip_ * rate) slow_start_ = false;
    size_ += first_round_ ? used - segment_ : used;
    first_round_ = false;
    if (cubic_ && round_trip_ <= kHystartRoundTrip && size_ >= kHystartSegments * segment_) {
      slow_start_ = false;
    }
  } else if (!slow_start_ && used >= size_) {
    size_ = cubic_ ? size_ * kCubicGrowth : size_ + segment_;
  }
  size_ = std::min(size_, limit_);
}

LossDraws::LossDraws(std::uint64_t seed, std::uint32_t connection, std::uint32_t transfer)
    : stream_{seed, transfer, connection, kLossStream} {}

double LossDraws::draw() {
  return static_cast<double>(uniform(stream_, next_++));
}

double LossDraws::exponential() {
  return -std::log(1.0 - draw());
}

double LossDraws::first_loss(double p) {
  return std::floor(exponential() / -std::log1p(-p));
}

std::int64_t LossDraws::retransmissions(double segments, double p) {
  constexpr double kManyEvents = 50;  // from here on the normal approximation is within a per cent
  const double mean = segments * p;
  if (mean > kManyEvents) {
    const double radius = std::sqrt(2 * exponential());
    const double normal = radius * std::cos(6.283185307179586 * draw());
    return std::max<std::int64_t>(0, std::llround(mean + std::sqrt(mean) * normal));
  }
  std::int64_t count = 0;
  for (double sum = exponential(); sum < mean; sum += exponential()) ++count;
  return count;
}

double LossDraws::next_timeout(double p) {
  return exponential() / (kLostAgain * p * p);
}

double LossDraws::timeout_duration(const TcpPath& path, const TransportSettings& transport) {
  double duration = std::max(transport.min_rto.value(), kTimeoutRoundTrips * path.round_trip);
  while (happens(path.loss)) duration *= 2;
  return duration + path.round_trip * std::max(0.0, std::log2(path.response));
}

}  // namespace gradwire::sim
