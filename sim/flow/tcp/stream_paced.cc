// A stream whose congestion control says how fast it sends, not only how much (BBR).
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kSameInstant = 1e-10;  // s
constexpr double kRounding = 0.01;      // ns: of sums of eighths

}  // namespace

void TcpStream::start_pacing() {
  paced_ = std::make_unique<PacedSender>(
      Bbr::Settings{path_->segment, path_->initial_window, smoothed_});
}

void TcpStream::run_paced(double now) {
  const double& pace = paced_->timer;
  for (;;) {
    const double ack = next_ack();
    const double turn = next_turn();
    const double next = std::min({ack, timer_, pace});
    if (std::min({next, decision(), turn}) > now) return;
    if (decision() <= std::min(next, turn)) {
      decide(decision(), 0);
    } else if (turn <= next) {
      take_turn();
    } else if (pace <= timer_ && is_pace_first(ack)) {
      const double time = std::exchange(paced_->timer, kNever);
      send_paced(time);
    } else if (ack <= timer_) {
      if (receiver_.acknowledgements().empty()) receiver_.time_out();
      take_ack(ack);
    } else {
      time_out(timer_);
    }
  }
}

/// Of the pacing timer and an acknowledgement. Segments that are paced bring acknowledgements in
/// their own rhythm, so that both often fall on one instant: then what was begun first comes first,
/// the waiting or the acknowledgement's last hop.
bool TcpStream::is_pace_first(double ack) const {
  const double pace = paced_->timer;
  if (std::abs(ack - pace) > kSameInstant) return pace < ack;
  return paced_->timer_set <= ack - path_->last_ack_hop;
}

void TcpStream::send_paced(double now) {
  PacedSender& p = *paced_;
  while (p.timer == kNever) {
    const std::int64_t room = space();
    if (room <= 0) break;
    const bool starts = p.in_flight == 0;
    if (starts && (unsent() > 0 || board_.lost() > 0)) p.bbr.on_start(now);
    if (!send_next(now, room)) break;
    p.in_flight = board_.in_flight();
  }
  p.in_flight = board_.in_flight();
}

/// A segment goes out.
void TcpStream::note_paced(double now, std::int64_t number) {
  PacedSender& p = *paced_;
  const std::int64_t bytes = board_.at(number).bytes;
  p.in_flight = board_.in_flight();
  p.rate.sent(now, number, p.in_flight == bytes);
  // The handshake counts as one byte.
  if (p.timer < kNever || sent_ + 1 <= path_->initial_window) return;
  p.timer_set = now;
  p.timer = now + static_cast<double>(bytes) / p.bbr.pacing_rate();
}

/// There may be less to send than the network would take.
void TcpStream::note_written() {
  PacedSender& p = *paced_;
  const bool sends_all = board_.lost() == 0 || board_.next_lost() == Scoreboard::kNone;
  if (unsent() < path_->segment && p.in_flight < congestion_.size() && sends_all)
    p.rate.limit(p.in_flight);
}

void TcpStream::note_timeout() {
  paced_->bbr.on_timeout(state_ == State::kRecovery);
  paced_->timer = kNever;
  paced_->in_flight = board_.in_flight();
}

/// Of what the acknowledgement tells: segments beyond the first gap, then those before it.
void TcpStream::note_delivered_now(double now, std::uint64_t ack_number, std::int64_t upto) {
  const auto note = [&](std::int64_t segment) {
    if (!board_.at(segment).sacked) paced_->rate.delivered(now, segment, board_.at(segment).bytes);
  };
  const auto& arrived = receiver_.out_of_order();
  arrived.visit([&](const TcpReceiver::OutOfOrder& each) {
    if (each.reported_by > ack_number) return false;
    if (each.segment >= upto) note(each.segment);
    return true;
  });
  for (std::int64_t i = board_.first(); i < upto; ++i) note(i);
}

void TcpStream::on_paced_ack(double now, const Acknowledgement& ack, std::uint64_t number) {
  measure(now, ack);
  // Whole nanoseconds, rounded down: a steady round trip is reached, not only approached.
  smoothed_ = std::floor(smoothed_ / kNanosecond + kRounding) * kNanosecond;
  const std::int64_t old = board_.first();
  const std::int64_t upto = whole(ack.upto);
  if (upto < old) return;
  const std::int64_t lost = board_.lost();
  const std::int64_t in_flight = paced_->in_flight;
  note_delivered_now(now, number, upto);
  const std::int64_t sacked = learn_sacks(number, upto);
  const std::int64_t delivered = sacked + board_.acknowledge(upto);
  paced_->in_flight = board_.in_flight();
  process(now, upto, old, sacked > 0, delivered, false, 0);
  update_model(now, lost, in_flight, delivered);
  send_paced(now);
}

/// After an acknowledgement of so many bytes; `lost`, `in_flight`: bytes before it.
void TcpStream::update_model(double now, std::int64_t lost, std::int64_t in_flight,
                             std::int64_t delivered) {
  PacedSender& p = *paced_;
  p.rate.forget_before(board_.first());
  p.least_round_trip = std::min(p.least_round_trip, smoothed_);
  Bbr::Acked acked;
  acked.now = now;
  acked.bytes = delivered;
  acked.lost = std::abs(board_.lost() - lost);
  acked.in_flight = p.in_flight;
  acked.prior_in_flight = in_flight;
  acked.delivered = p.rate.total();
  acked.round_trip = p.round_trip;
  acked.recovering = state_ == State::kRecovery;
  p.bbr.on_ack(acked, p.rate.sample(p.least_round_trip));
  congestion_.set_size(p.bbr.window());
}

}  // namespace gradwire::sim
