// The timers of a sender that follows Linux run out: reordering, probe, timeout (kernel_sender.h).
#include <algorithm>

#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {

void TcpStream::on_kernel_timer(double now) {
  KernelSender& k = *kernel_;
  const KernelSender::Timer timer = k.timer;
  k.timer = KernelSender::Timer::kTimeout;
  timer_ = kNever;
  switch (timer) {
    case KernelSender::Timer::kProbe:
      probe(now);
      break;
    case KernelSender::Timer::kReorder:
      if (find_late(now)) {
        if (state_ != State::kRecovery && state_ != State::kLoss) recover_kernel();
        if (state_ == State::kRecovery) reduce_kernel(1, false);
      }
      send_pending(now);
      if (timer_ == kNever || k.timer != KernelSender::Timer::kReorder) arm_kernel(now);
      break;
    case KernelSender::Timer::kTimeout:
      time_out_kernel(now);
      break;
  }
}

/// The next segment, or the last one again, makes the receiver tell what it has.
void TcpStream::probe(double now) {
  KernelSender& k = *kernel_;
  k.probe_repairs = false;
  if (unsent() > 0) {
    send_new(now, std::min(path_->segment, unsent()));
  } else {
    const std::int64_t last = board_.end() - 1;
    k.probe_repairs = !receiver_.has(last);
    send_again(now, last);
  }
  k.probe_end = board_.end();
  k.timer = KernelSender::Timer::kTimeout;
  timer_ = now + rto_;
}

/// A probe that took a lost segment's place is a loss like any other: known as such, and not for
/// lost acknowledgements, when something is acknowledged that was sent after it.
void TcpStream::end_probe(std::int64_t upto) {
  KernelSender& k = *kernel_;
  if (k.probe_end < 0 || upto < k.probe_end || (k.probe_repairs && upto == k.probe_end)) return;
  k.probe_end = -1;
  if (!k.probe_repairs || state_ == State::kRecovery || state_ == State::kLoss) return;
  congestion_.cut();
  congestion_.set_size(congestion_.threshold());
}

void TcpStream::time_out_kernel(double now) {
  KernelSender& k = *kernel_;
  ++timeouts_;
  const bool first = state_ != State::kRecovery && (state_ != State::kLoss || !k.again);
  mark_timed_out(now);
  recover_ = board_.end();
  rto_ = std::min(2 * rto_, constants().largest_rto);
  if (first) congestion_.cut();
  congestion_.collapse(now, board_.end());
  congestion_.set_size((segments_in(board_.in_flight()) + 1) * path_->segment);
  state_ = State::kLoss;
  k.again = true;
  k.probe_end = -1;
  send_pending(now);
  timer_ = now + rto_;
  k.timer = KernelSender::Timer::kTimeout;
}

/// The oldest segment, and all that were not sent within the last round trip.
void TcpStream::mark_timed_out(double now) {
  KernelSender& k = *kernel_;
  for (std::int64_t i = board_.first(); i < board_.end(); ++i) {
    const bool fresh =
        k.sent_at[static_cast<std::uint64_t>(i)] + k.recent_round_trip > now && i > board_.first();
    if (!fresh && !board_.at(i).sacked) board_.mark_lost(i);
  }
}

}  // namespace gradwire::sim
