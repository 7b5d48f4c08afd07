#include "sim/flow/tcp/linux_sender.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kLongestWait = 0.125;  // of the smoothed round trip, for segments out of order
constexpr std::int64_t kDuplicates = 3;

}  // namespace

/// A segment is known to have arrived.
void LinuxSender::note_delivered(const TcpOutput& out, double now, std::int64_t number) {
  const Transmission own{sent_at(number), number};
  const double round_trip = now - own.time;
  if (out.board().at(number).resent) {
    // It may have been the first copy.
    if (round_trip < least_round_trip_) return;
  } else {
    sample_ = std::max(sample_, round_trip);
    latest_ = std::min(latest_, round_trip);
    least_round_trip_ = std::min(least_round_trip_, round_trip);
  }
  if (!own.is_later_than(recent_)) return;
  recent_ = own;
  recent_round_trip_ = round_trip;
}

/// What the acknowledgement tells: segments that have arrived and were not known to.
std::int64_t LinuxSender::learn(TcpOutput& out, double now, std::uint64_t ack_number,
                                std::int64_t upto, TcpReceiver::OutOfOrderQueue& arrived) {
  Scoreboard& board = out.board();
  std::int64_t segments = 0;
  while (!arrived.empty() && arrived.front().reported_by <= ack_number) {
    const std::int64_t segment = arrived.front().segment;
    arrived.pop();
    if (segment < upto || board.sack(segment) == 0) continue;
    note_delivered(out, now, segment);
    ++segments;
  }
  for (std::int64_t i = board.first(); i < upto; ++i) {
    if (board.at(i).sacked) continue;
    note_delivered(out, now, i);
    ++segments;
  }
  board.acknowledge(upto);
  while (sent_at_.begin() < static_cast<std::uint64_t>(upto)) sent_at_.pop();
  return segments;
}

/// Marks what is lost by now. Whether anything was; the timer is set where it is too early to say.
bool LinuxSender::find_late(TcpOutput& out, double now) {
  double window = 0;
  if (!is_repairing() && out.board().sacked() < kDuplicates * out.path().segment)
    window = std::min(out.constants().reorder_share * least_round_trip_,
                      kLongestWait * out.round_trip().smoothed());
  bool found = false;
  double wait = 0;
  while (!transmissions_.empty()) {
    const Transmission oldest = transmissions_.front();
    if (is_known(out, oldest)) {
      transmissions_.pop();
      continue;
    }
    if (!recent_.is_later_than(oldest)) break;
    wait = oldest.time + recent_round_trip_ + window - now;
    if (wait > 0) break;
    out.board().mark_lost(oldest.segment);
    transmissions_.pop();
    found = true;
  }
  if (wait > 0) {
    out.set_timer(now + wait);
    timer_ = Timer::kReorder;
  }
  return found;
}

/// Whether nothing can be learnt from that transmission any more.
bool LinuxSender::is_known(const TcpOutput& out, const Transmission& transmission) const {
  if (transmission.segment < out.board().first()) return true;
  const Scoreboard::Segment& segment = out.board().at(transmission.segment);
  if (segment.sacked || (segment.lost && !segment.again)) return true;
  return sent_at(transmission.segment) != transmission.time;
}

void LinuxSender::on_ack(TcpOutput& out, double now, const Acknowledgement& ack,
                         std::uint64_t number, TcpReceiver::OutOfOrderQueue& arrived) {
  const std::int64_t old = out.board().first();
  const std::int64_t upto = out.whole(ack.upto);
  if (upto < old) return;
  sample_ = -1;
  latest_ = kNever;
  const std::int64_t delivered = learn(out, now, number, upto, arrived);
  if (sample_ >= 0) out.round_trip().measure(sample_, out.path());
  if (upto > old) again_ = false;
  end_probe(out, upto);
  if (upto >= recover_ && is_repairing()) {
    if (state_ == State::kRecovery) out.congestion().set_size(out.congestion().threshold());
    used_since_ = now;
    state_ = State::kOpen;
  }
  if (upto > old) arm(out, now);
  const bool newly_lost = find_late(out, now);
  if (!is_repairing()) {
    state_ = out.board().sacked() > 0 ? State::kDisorder : State::kOpen;
    if (out.board().lost() > 0) recover(out);
  }
  if (state_ == State::kRecovery) {
    reduce_rate(out, delivered, upto > old && !newly_lost);
  } else if (upto > old) {
    grow(out, now, delivered, upto);
  }
  send(out, now);
}

void LinuxSender::recover(TcpOutput& out) {
  recover_ = out.board().end();
  state_ = State::kRecovery;
  probe_end_ = -1;
  window_before_ = out.congestion().segments();
  delivered_ = out_ = 0;
  out.congestion().cut();
}

/// Proportional rate reduction. `progress`: the oldest segment was acknowledged, and none lost.
void LinuxSender::reduce_rate(TcpOutput& out, std::int64_t delivered, bool progress) {
  if (delivered <= 0) return;
  delivered_ += delivered;
  const std::int64_t in_flight = out.segments_in(out.board().in_flight());
  const std::int64_t threshold = out.congestion().threshold() / out.path().segment;
  std::int64_t send = 0;
  if (in_flight > threshold) {
    const std::int64_t before = std::max<std::int64_t>(window_before_, 1);
    send = (threshold * delivered_ + before - 1) / before - out_;
  } else {
    send = std::max(delivered_ - out_, delivered) + (progress ? 1 : 0);
    send = std::min(send, threshold - in_flight);
  }
  send = std::max<std::int64_t>(send, out_ > 0 ? 0 : 1);
  out.congestion().set_size((in_flight + send) * out.path().segment);
}

void LinuxSender::grow(TcpOutput& out, double now, std::int64_t delivered, std::int64_t upto) {
  CongestionWindow& window = out.congestion();
  window.end_round(now, upto, out.board().end());
  if (sample_ >= 0) window.acknowledged(now, latest_);
  used_since_ = now;
  window.set_limited(is_filled(out));
  window.grow(now, delivered, upto, out.board().end());
}

/// The timeout begins anew, or a probe comes first.
void LinuxSender::arm(TcpOutput& out, double now) {
  if (timer_ == Timer::kReorder && out.timer() > now && out.timer() < kNever) return;
  timer_ = Timer::kTimeout;
  out.restart_timer(now);
  if (out.board().empty() || state_ != State::kOpen || probe_end_ >= 0) return;
  const bool alone = out.segments_in(out.board().outstanding()) == 1;
  const double wait = out.constants().probe_round_trips * out.round_trip().smoothed() +
                      (alone ? out.path().min_rto : out.constants().probe_slack);
  out.set_timer(now + std::min(wait, out.round_trip().timeout()));
  timer_ = Timer::kProbe;
}

void LinuxSender::on_timer(TcpOutput& out, const TcpReceiver& receiver) {
  const double now = out.timer();
  const Timer timer = timer_;
  timer_ = Timer::kTimeout;
  out.set_timer(kNever);
  if (timer == Timer::kProbe) return probe(out, now, receiver);
  if (timer == Timer::kTimeout) return time_out(out, now);
  if (find_late(out, now)) {
    if (!is_repairing()) recover(out);
    if (state_ == State::kRecovery) reduce_rate(out, 1, false);
  }
  while (send_next(out, now)) {
  }
  if (out.timer() == kNever || timer_ != Timer::kReorder) arm(out, now);
}

/// The next segment, or the last one again, makes the receiver tell what it has.
void LinuxSender::probe(TcpOutput& out, double now, const TcpReceiver& receiver) {
  probe_repairs_ = false;
  if (out.unsent() > 0) {
    note_sent(out, now, out.send_new(now));
  } else {
    const std::int64_t last = out.board().end() - 1;
    probe_repairs_ = !receiver.has(last);
    note_sent(out, now, out.send_again(now, last));
  }
  probe_end_ = out.board().end();
  timer_ = Timer::kTimeout;
  out.restart_timer(now);
}

/// A probe that took a lost segment's place is a loss like any other: known as such, and not for
/// lost acknowledgements, when something is acknowledged that was sent after it.
void LinuxSender::end_probe(TcpOutput& out, std::int64_t upto) {
  if (probe_end_ < 0 || upto < probe_end_ || (probe_repairs_ && upto == probe_end_)) return;
  probe_end_ = -1;
  if (!probe_repairs_ || is_repairing()) return;
  out.congestion().cut();
  out.congestion().set_size(out.congestion().threshold());
}

/// The oldest segment is lost, and all that were not sent within the last round trip.
void LinuxSender::time_out(TcpOutput& out, double now) {
  Scoreboard& board = out.board();
  const bool first = state_ != State::kRecovery && (state_ != State::kLoss || !again_);
  for (std::int64_t i = board.first(); i < board.end(); ++i) {
    const bool fresh = sent_at(i) + recent_round_trip_ > now && i > board.first();
    if (!fresh && !board.at(i).sacked) board.mark_lost(i);
  }
  recover_ = board.end();
  out.round_trip().back_off(out.constants().largest_rto);
  if (first) out.congestion().cut();
  out.congestion().collapse(now, board.end());
  out.congestion().set_size((out.segments_in(board.in_flight()) + 1) * out.path().segment);
  state_ = State::kLoss;
  again_ = true;
  probe_end_ = -1;
  while (send_next(out, now)) {
  }
  out.set_timer(now + out.round_trip().timeout());
  timer_ = Timer::kTimeout;
}

}  // namespace gradwire::sim
