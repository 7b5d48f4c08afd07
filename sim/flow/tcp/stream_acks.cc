// What acknowledgements and timeouts do to a stream: round trips, losses found, recovery.
#include <algorithm>
#include <cmath>

#include "sim/flow/tcp/round_trip_gains.h"
#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {
namespace {

constexpr double kLeastDeviations = 0.001;
/// ns-3 3.44 multiplies bytes by bytes in 32 bits here (tcp-prr-recovery.cc): from some 80 segments
/// on, recovery sends nothing until the product has wrapped around.
constexpr std::int64_t kProductMask = 0xFFFFFFFF;

/// ns-3 3.44 takes the larger of what was delivered in recovery but not sent and what was delivered
/// now without their signs, in 32 bits (ibid.): where more was sent than delivered it is the
/// first, below 0, and nothing goes out.
std::int64_t larger_unsigned(std::int64_t a, std::int64_t b) {
  const auto larger = std::max(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  return static_cast<std::int32_t>(larger);
}

}  // namespace

void TcpStream::measure(double now, const Acknowledgement& ack) {
  const std::int64_t upto = whole(ack.upto);
  if (measured_from_ >= board_.end() || upto <= measured_from_) return;
  measured_from_ = upto;
  const double sample = sample_of(ack.echo, tick_of(now));
  if (paced_) paced_->round_trip = sample;
  const double error = sample - smoothed_;
  smoothed_ += kSmoothing * error;
  deviation_ += kDeviationSmoothing * (std::abs(error) - deviation_);
  rto_ = measured_rto();
}

std::int64_t TcpStream::learn_sacks(std::uint64_t ack_number, std::int64_t upto) {
  std::int64_t bytes = 0;
  auto& arrived = receiver_.out_of_order();
  while (!arrived.empty() && arrived.front().reported_by <= ack_number) {
    if (arrived.front().segment >= upto) bytes += board_.sack(arrived.front().segment);
    arrived.pop();
  }
  if (bytes > 0) board_.find_lost();
  return bytes;
}

/// The segment that `low` are the lowest bits of: none older than the board's first is told.
std::int64_t TcpStream::whole(std::uint32_t low) const {
  const std::int64_t first = board_.first();
  // Of 30 bits, with the sign of the highest one.
  const std::uint32_t apart = (low - static_cast<std::uint32_t>(first)) << 2;
  return first + static_cast<std::int32_t>(apart) / 4;
}

void TcpStream::on_ack(double now, const Acknowledgement& ack, std::uint64_t number) {
  know_offer();
  if (kernel_) {
    on_kernel_ack(now, ack, number);
    return;
  }
  if (paced_) {
    on_paced_ack(now, ack, number);
    return;
  }
  measure(now, ack);
  const std::int64_t old = board_.first();
  const std::int64_t upto = whole(ack.upto);
  if (upto < old) return;
  const std::int64_t sacked = learn_sacks(number, upto);
  bool resent_arrived = false;
  if (state_ == State::kRecovery && upto < recover_) {
    for (std::int64_t i = old; i < upto; ++i)
      resent_arrived = resent_arrived || (board_.at(i).again && !board_.at(i).sacked);
  }
  if (joined_) joined_->part(board_, upto);
  const std::int64_t beyond = segments_beyond_loss(upto);
  const std::int64_t delivered = sacked + board_.acknowledge(upto);
  process(now, upto, old, sacked > 0, delivered, resent_arrived, beyond);
  send_pending(now);
}

/// What an acknowledgement that ends a recovery, or what follows a timeout, tells of beyond it:
/// that grows the window. Bytes' worth of whole segments, as ns-3 counts; 0 for any other.
std::int64_t TcpStream::segments_beyond_loss(std::int64_t upto) const {
  if (upto < recover_ || (state_ != State::kRecovery && state_ != State::kLoss)) return 0;
  const std::int64_t old = board_.first();
  std::int64_t bytes = 0;
  for (std::int64_t i = state_ == State::kLoss ? std::max(old, recover_) : old; i < upto; ++i)
    bytes += board_.at(i).bytes;
  return bytes / path_->segment;
}

/// Whole segments among acknowledged bytes; the rest counts towards the next call's.
std::int64_t TcpStream::whole_segments(std::int64_t bytes) {
  std::int64_t segments = bytes / path_->segment;
  remainder_ += bytes % path_->segment;
  if (remainder_ >= path_->segment) {
    ++segments;
    remainder_ -= path_->segment;
  }
  return segments;
}

void TcpStream::process(double now, std::int64_t upto, std::int64_t old, bool duplicate,
                        std::int64_t delivered, bool resent_arrived, std::int64_t beyond) {
  const int duplicates = duplicates_;
  if (duplicate) on_duplicate(now, delivered);
  if (upto == old) {
    if (!board_.empty()) congestion_.acknowledged(now, smoothed_);
    return;
  }
  const std::int64_t segments = whole_segments(delivered);
  if (!duplicate) duplicates_ = 0;
  if (upto < recover_ && state_ == State::kRecovery) {
    on_partial(now, segments, delivered, resent_arrived);
  } else if (upto < recover_ && state_ == State::kLoss) {
    congestion_.acknowledged(now, smoothed_);
    congestion_.grow(now, segments, upto, board_.end());
    restart_timer(now);
  } else {
    on_whole(now, upto, segments, beyond, duplicates, duplicate);
  }
}

void TcpStream::on_partial(double now, std::int64_t segments, std::int64_t delivered,
                           bool resent_arrived) {
  if (segments >= 1) reduce_rate(delivered, false, resent_arrived);
  // ns-3 3.44 knows the next one as sent again only if it is a full one (tcp-socket-base.cc).
  const Scoreboard::Segment& next = board_.at(board_.first());
  if (!next.again || static_cast<std::int64_t>(next.bytes) != path_->segment) {
    // It is taken for lost: sent at once, whatever the window.
    const std::int64_t lost = board_.next_lost();
    if (lost != Scoreboard::kNone) {
      send_again(now, lost);
    } else if (unsent() > 0) {
      send_new(now, std::min(path_->segment, unsent()));
    } else {
      send_again(now, board_.first());
    }
  }
  congestion_.acknowledged(now, smoothed_);
  if (first_partial_) restart_timer(now);
  first_partial_ = false;
}

void TcpStream::on_whole(double now, std::int64_t upto, std::int64_t segments, std::int64_t beyond,
                         std::int64_t duplicates, bool duplicate) {
  bool recovered = false;
  switch (state_) {
    case State::kOpen:
      congestion_.acknowledged(now, smoothed_);
      break;
    case State::kDisorder:
      if (segments >= duplicates) congestion_.acknowledged(now, smoothed_);
      if (!duplicate) state_ = State::kOpen;
      break;
    case State::kRecovery:
      segments = beyond;
      congestion_.acknowledged(now, smoothed_);
      state_ = State::kOpen;
      first_partial_ = recovered = true;
      duplicates_ = 0;
      break;
    case State::kLoss:
      segments = beyond;
      congestion_.acknowledged(now, smoothed_);
      state_ = State::kOpen;
      first_partial_ = true;
      break;
  }
  if (upto >= recover_) recovering_ = false;
  if (recovered && paced_) paced_->bbr.leave_recovery();
  if (recovered && !paced_) congestion_.set_size(congestion_.threshold());
  if (state_ != State::kOpen) return;
  congestion_.grow(now, segments, upto, board_.end());
  restart_timer(now);
}

void TcpStream::on_duplicate(double now, std::int64_t delivered) {
  if (state_ == State::kLoss) return;
  if (state_ == State::kRecovery) {
    reduce_rate(delivered, true, false);
    return;
  }
  ++duplicates_;
  state_ = State::kDisorder;
  const std::int64_t first = board_.first();
  const bool third = duplicates_ == Scoreboard::kDuplicates;
  if ((third && (first >= recover_ || !recovering_)) || board_.at(first).lost)
    enter_recovery(now, delivered);
}

void TcpStream::enter_recovery(double now, std::int64_t delivered) {
  board_.mark_first_lost();
  recover_ = board_.end();
  recovering_ = true;
  state_ = State::kRecovery;
  congestion_.cut();
  if (paced_) paced_->bbr.enter_recovery(paced_->in_flight, delivered);
  reduced_out_ = reduced_delivered_ = 0;
  reduced_flight_ = board_.in_flight();
  reduce_rate(delivered, true, false);
  send_again(now, board_.first());
}

/// Proportional rate reduction (RFC 6937), its slow-start bound where recovery makes progress.
void TcpStream::reduce_rate(std::int64_t delivered, bool duplicate, bool resent_arrived) {
  if (paced_) return;
  if (duplicate && reduced_delivered_ < reduced_flight_) delivered += path_->segment;
  if (delivered == 0) return;
  reduced_delivered_ += delivered;
  const std::int64_t in_flight = board_.in_flight();
  const std::int64_t threshold = congestion_.threshold();
  std::int64_t send = 0;
  if (in_flight > threshold) {
    const std::int64_t product = (reduced_delivered_ * threshold) & kProductMask;
    send = (product + reduced_flight_ - 1) / reduced_flight_ - reduced_out_;
  } else {
    std::int64_t limit = larger_unsigned(reduced_delivered_ - reduced_out_, delivered);
    if (resent_arrived) limit += path_->segment;
    send = std::min(limit, threshold - in_flight);
  }
  send = std::max<std::int64_t>(send, reduced_out_ > 0 ? 0 : path_->segment);
  congestion_.set_size(in_flight + send);
}

double TcpStream::measured_rto() const {
  return std::max(smoothed_ + std::max(kLeastDeviations, kDeviations * deviation_), path_->min_rto);
}

void TcpStream::restart_timer(double now) {
  rto_ = measured_rto();
  timer_ = board_.empty() ? kNever : now + rto_;
}

void TcpStream::time_out(double now) {
  ++timeouts_;
  duplicates_ = 0;
  board_.mark_all_lost();
  recover_ = board_.end();
  recovering_ = true;
  rto_ = std::min(2 * rto_, constants().largest_rto);
  measured_from_ = board_.end();
  congestion_.cut();
  congestion_.collapse(now, board_.end());
  if (paced_) note_timeout();
  state_ = State::kLoss;
  timer_ = kNever;
  if (paced_) {
    send_paced(now);
  } else {
    send_pending(now);
  }
}

}  // namespace gradwire::sim
