#include "sim/flow/tcp/ns3_sender.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

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

/// Whole nanoseconds, rounded down: a steady round trip is reached, not only approached.
double whole_nanoseconds_of(double seconds) {
  constexpr double kNanosecond = 1e-9, kRounding = 0.01;  // ns: of sums of eighths
  return std::floor(seconds / kNanosecond + kRounding) * kNanosecond;
}

/// Bytes that acknowledgement `number` tells selectively, of segments from `upto` on.
std::int64_t learn_sacks(Scoreboard& board, std::uint64_t number, std::int64_t upto,
                         TcpReceiver::OutOfOrderQueue& arrived) {
  std::int64_t bytes = 0;
  for (; !arrived.empty() && arrived.front().reported_by <= number; arrived.pop())
    if (arrived.front().segment >= upto) bytes += board.sack(arrived.front().segment);
  if (bytes > 0) board.find_lost();
  return bytes;
}

}  // namespace

void Ns3Sender::start(const TcpOutput& out) {
  if (!out.congestion().is_paced()) return;
  const StreamPath& path = out.path();
  paced_ = std::make_unique<PacedSender>(
      Bbr::Settings{path.segment, path.initial_window, out.round_trip().smoothed()});
}

void Ns3Sender::on_write(TcpOutput& out, double now, bool more) {
  if (paced_) paced_->on_write(out);
  if (!more) send(out, now);
}

bool Ns3Sender::run_timer(TcpOutput& out, double ack) {
  if (pace() <= out.timer() && paced_ && paced_->is_before(ack, out.path().last_ack_hop)) {
    send(out, paced_->take_timer());
    return true;
  }
  if (ack <= out.timer()) return false;
  time_out(out, out.timer());
  return true;
}

void Ns3Sender::send(TcpOutput& out, double now) {
  if (paced_) return send_paced(out, now);
  while (send_next(out, now, out.space())) {
  }
}

void Ns3Sender::send_paced(TcpOutput& out, double now) {
  while (paced_->timer() == TcpOutput::kNever) {
    const std::int64_t room = out.space();
    if (room <= 0) break;
    paced_->before_send(out, now);
    if (!send_next(out, now, room)) break;
    paced_->look(out);
  }
  paced_->look(out);
}

/// Sends a segment if there is one and `space` lets it. (RFC 6675's NextSeg.) Nothing is sent where
/// more waits than fits into a space of less than a full segment (RFC 1122, 4.2.3.4).
inline bool Ns3Sender::send_next(TcpOutput& out, double now, std::int64_t space) {
  if (space <= 0) return false;
  const auto exceeds = [&](std::int64_t number) {
    if (space >= out.path().segment) return false;
    std::int64_t bytes = out.unsent();
    for (std::int64_t i = number; i < out.board().end() && bytes <= space; ++i)
      bytes += out.board().at(i).bytes;
    return bytes > space;
  };
  std::int64_t again = out.board().next_lost();
  if (again == Scoreboard::kNone && out.unsent() > 0) {
    if (!out.may_send_new(space)) return false;
    send_new(out, now);
    return true;
  }
  if (again == Scoreboard::kNone && state_ == State::kRecovery) again = out.board().next_doubtful();
  if (again == Scoreboard::kNone || exceeds(again)) return false;
  send_again(out, now, again, space);
  return true;
}

/// `most`: bytes that may go out with it.
void Ns3Sender::send_again(TcpOutput& out, double now, std::int64_t number, std::int64_t most) {
  note_sent(out, now, out.send_again(now, number, paced_ ? 0 : most));
}

inline void Ns3Sender::note_sent(TcpOutput& out, double now, std::int64_t number) {
  if (state_ == State::kRecovery) reduced_out_ += out.board().at(number).bytes;
  CongestionWindow& window = out.congestion();
  if (paced_) {
    paced_->on_sent(out, now, number);
  } else {
    window.set_limited(window.size() < out.board().in_flight() + out.path().segment);
  }
}

inline void Ns3Sender::measure(TcpOutput& out, double now, const Acknowledgement& ack,
                               std::int64_t upto) {
  if (measured_from_ < out.board().end() && upto > measured_from_) {
    measured_from_ = upto;
    const double sample = out.path().between(ack.echo, out.path().stamp(now));
    if (paced_) paced_->measured(sample);
    out.round_trip().measure(sample, out.path());
  }
  if (paced_) out.round_trip().set_smoothed(whole_nanoseconds_of(out.round_trip().smoothed()));
}

void Ns3Sender::on_ack(TcpOutput& out, double now, const Acknowledgement& ack, std::uint64_t number,
                       TcpReceiver::OutOfOrderQueue& arrived) {
  Scoreboard& board = out.board();
  Told told{.now = now, .old = board.first(), .upto = out.whole(ack.upto)};
  measure(out, now, ack, told.upto);
  if (told.upto < told.old) return;
  if (paced_) paced_->note_delivered(out, now, number, told.upto, arrived);
  told.delivered = learn_sacks(board, number, told.upto, arrived);
  told.duplicate = told.delivered > 0;
  if (state_ == State::kRecovery && told.upto < recover_)
    for (std::int64_t i = told.old; i < told.upto; ++i)
      told.resent_arrived = told.resent_arrived || (board.at(i).again && !board.at(i).sacked);
  out.part_copies(told.upto);
  told.beyond = segments_beyond_loss(out, told.upto);
  told.delivered += board.acknowledge(told.upto);
  if (paced_) paced_->look(out);
  process(out, told);
  if (paced_) paced_->on_ack(out, now, told.delivered, state_ == State::kRecovery);
  send(out, now);
}

/// What an acknowledgement that ends a recovery, or what follows a timeout, tells of beyond it:
/// that grows the window. Bytes' worth of whole segments, as ns-3 counts; 0 for any other.
inline std::int64_t Ns3Sender::segments_beyond_loss(const TcpOutput& out, std::int64_t upto) const {
  if (upto < recover_ || (state_ != State::kRecovery && state_ != State::kLoss)) return 0;
  const std::int64_t old = out.board().first();
  std::int64_t bytes = 0;
  for (std::int64_t i = state_ == State::kLoss ? std::max(old, recover_) : old; i < upto; ++i)
    bytes += out.board().at(i).bytes;
  return bytes / out.path().segment;
}

inline void Ns3Sender::process(TcpOutput& out, const Told& told) {
  CongestionWindow& window = out.congestion();
  const int duplicates = duplicates_;
  if (told.duplicate) on_duplicate(out, told);
  if (told.upto == told.old) {
    if (!out.board().empty()) window.acknowledged(told.now, out.round_trip().smoothed());
    return;
  }
  // Whole segments among acknowledged bytes; the rest counts towards the next call's.
  const std::int64_t bytes = remainder_ + told.delivered;
  const std::int64_t segments = bytes / out.path().segment;
  remainder_ = bytes % out.path().segment;
  if (!told.duplicate) duplicates_ = 0;
  if (told.upto < recover_ && state_ == State::kRecovery) {
    on_partial(out, told, segments);
  } else if (told.upto < recover_ && state_ == State::kLoss) {
    window.acknowledged(told.now, out.round_trip().smoothed());
    window.grow(told.now, segments, told.upto, out.board().end());
    restart_timer(out, told.now);
  } else {
    on_whole(out, told, segments, duplicates);
  }
}

void Ns3Sender::on_partial(TcpOutput& out, const Told& told, std::int64_t segments) {
  const std::int64_t full = out.path().segment;
  if (segments >= 1) reduce_rate(out, told, false);
  // ns-3 3.44 knows the next one as sent again only if it is a full one (tcp-socket-base.cc).
  const Scoreboard::Segment& next = out.board().at(out.board().first());
  if (!next.again || static_cast<std::int64_t>(next.bytes) != full) {
    // It is taken for lost: sent at once, whatever the window.
    const std::int64_t lost = out.board().next_lost();
    if (lost == Scoreboard::kNone && out.unsent() > 0) {
      send_new(out, told.now);
    } else {
      send_again(out, told.now, lost == Scoreboard::kNone ? out.board().first() : lost, full);
    }
  }
  out.congestion().acknowledged(told.now, out.round_trip().smoothed());
  if (first_partial_) restart_timer(out, told.now);
  first_partial_ = false;
}

void Ns3Sender::on_whole(TcpOutput& out, const Told& told, std::int64_t segments,
                         std::int64_t duplicates) {
  CongestionWindow& window = out.congestion();
  const bool repaired = state_ == State::kRecovery || state_ == State::kLoss;
  const bool recovered = state_ == State::kRecovery;
  if (state_ != State::kDisorder || segments >= duplicates)
    window.acknowledged(told.now, out.round_trip().smoothed());
  if (repaired) {
    segments = told.beyond;
    first_partial_ = true;
    if (recovered) duplicates_ = 0;
  }
  if (state_ != State::kDisorder || !told.duplicate) state_ = State::kOpen;
  if (recovered && paced_) paced_->leave_recovery();
  if (recovered && !paced_) window.set_size(window.threshold());
  if (state_ != State::kOpen) return;
  window.grow(told.now, segments, told.upto, out.board().end());
  restart_timer(out, told.now);
}

void Ns3Sender::on_duplicate(TcpOutput& out, const Told& told) {
  if (state_ == State::kLoss) return;
  if (state_ == State::kRecovery) return reduce_rate(out, told, true);
  ++duplicates_;
  state_ = State::kDisorder;
  const std::int64_t first = out.board().first();
  const bool third = duplicates_ == Scoreboard::kDuplicates;
  if ((third && first >= recover_) || out.board().at(first).lost) enter_recovery(out, told);
}

void Ns3Sender::enter_recovery(TcpOutput& out, const Told& told) {
  Scoreboard& board = out.board();
  board.mark_first_lost();
  recover_ = board.end();
  state_ = State::kRecovery;
  out.congestion().cut();
  if (paced_) paced_->enter_recovery(told.delivered);
  reduced_out_ = reduced_delivered_ = 0;
  reduced_flight_ = board.in_flight();
  reduce_rate(out, told, true);
  send_again(out, told.now, board.first(), out.path().segment);
}

/// Proportional rate reduction (RFC 6937), its slow-start bound where recovery makes progress.
void Ns3Sender::reduce_rate(TcpOutput& out, const Told& told, bool duplicate) {
  if (paced_) return;
  const std::int64_t full = out.path().segment;
  std::int64_t delivered = told.delivered;
  if (duplicate && reduced_delivered_ < reduced_flight_) delivered += full;
  if (delivered == 0) return;
  reduced_delivered_ += delivered;
  const std::int64_t in_flight = out.board().in_flight();
  const std::int64_t threshold = out.congestion().threshold();
  std::int64_t send = 0;
  if (in_flight > threshold) {
    const std::int64_t product = (reduced_delivered_ * threshold) & kProductMask;
    send = (product + reduced_flight_ - 1) / reduced_flight_ - reduced_out_;
  } else {
    std::int64_t limit = larger_unsigned(reduced_delivered_ - reduced_out_, delivered);
    if (!duplicate && told.resent_arrived) limit += full;
    send = std::min(limit, threshold - in_flight);
  }
  send = std::max<std::int64_t>(send, reduced_out_ > 0 ? 0 : full);
  out.congestion().set_size(in_flight + send);
}

void Ns3Sender::restart_timer(TcpOutput& out, double now) {
  out.round_trip().reset_timeout(out.path());
  out.restart_timer(now);
}

void Ns3Sender::time_out(TcpOutput& out, double now) {
  Scoreboard& board = out.board();
  duplicates_ = 0;
  board.mark_all_lost();
  measured_from_ = recover_ = board.end();
  out.round_trip().back_off(out.constants().largest_rto);
  out.congestion().cut();
  out.congestion().collapse(now, board.end());
  if (paced_) paced_->time_out(out, state_ == State::kRecovery);
  state_ = State::kLoss;
  out.set_timer(TcpOutput::kNever);
  send(out, now);
}

}  // namespace gradwire::sim
