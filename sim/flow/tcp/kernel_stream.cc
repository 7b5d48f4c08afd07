// What each acknowledgement does to a sender that follows Linux: kernel_sender.h has the rules in
// words. One file, for all of it is in the simulation's innermost loop.
#include <algorithm>
#include <cmath>

#include "sim/flow/tcp/round_trip_gains.h"
#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {
namespace {

constexpr double kLongestWait = 0.125;  // of the smoothed round trip, for segments out of order
constexpr std::int64_t kDuplicates = 3;

}  // namespace

std::int64_t TcpStream::segments_in(std::int64_t bytes) const {
  return (bytes + path_->segment - 1) / path_->segment;
}

void TcpStream::note_sent(double now, std::int64_t number) {
  KernelSender& k = *kernel_;
  auto& sent_at = k.sent_at;
  if (static_cast<std::uint64_t>(number) == sent_at.end())
    sent_at.push(now);
  else
    sent_at[static_cast<std::uint64_t>(number)] = now;
  k.transmissions.push({now, number});
  k.last_sent = now;
  ++k.out;
  // The timeout counts from the oldest segment's last copy.
  if (board_.at(number).again && number == board_.first() &&
      k.timer == KernelSender::Timer::kTimeout)
    timer_ = now + rto_;
}

/// A segment is known to have arrived.
void TcpStream::note_delivered(double now, std::int64_t number) {
  KernelSender& k = *kernel_;
  const double sent = k.sent_at[static_cast<std::uint64_t>(number)];
  const double round_trip = now - sent;
  if (board_.at(number).resent) {
    // It may have been the first copy.
    if (round_trip < k.least_round_trip) return;
  } else {
    k.sample = std::max(k.sample, round_trip);
    k.latest = std::min(k.latest, round_trip);
    k.least_round_trip = std::min(k.least_round_trip, round_trip);
  }
  const KernelSender::Transmission own{sent, number};
  if (!own.is_later_than(k.recent)) return;
  k.recent = own;
  k.recent_round_trip = round_trip;
}

void TcpStream::measure_kernel() {
  if (kernel_->sample < 0) return;
  const double error = kernel_->sample - smoothed_;
  smoothed_ += kSmoothing * error;
  deviation_ += kDeviationSmoothing * (std::abs(error) - deviation_);
  rto_ = kernel_rto();
}

double TcpStream::kernel_rto() const {
  return smoothed_ + std::max(path_->min_rto, kDeviations * deviation_);
}

double TcpStream::reorder_window() const {
  if (state_ == State::kRecovery || state_ == State::kLoss) return 0;
  if (board_.sacked() >= kDuplicates * path_->segment) return 0;
  return std::min(constants().reorder_share * kernel_->least_round_trip, kLongestWait * smoothed_);
}

/// Marks what is lost by now. Whether anything was; the timer is set where it is too early to say.
bool TcpStream::find_late(double now) {
  KernelSender& k = *kernel_;
  const double window = reorder_window();
  bool found = false;
  double wait = 0;
  while (!k.transmissions.empty()) {
    const KernelSender::Transmission oldest = k.transmissions.front();
    if (is_known(oldest)) {
      k.transmissions.pop();
      continue;
    }
    if (!k.recent.is_later_than(oldest)) break;
    wait = oldest.time + k.recent_round_trip + window - now;
    if (wait > 0) break;
    board_.mark_lost(oldest.segment);
    k.transmissions.pop();
    found = true;
  }
  if (wait > 0) {
    timer_ = now + wait;
    k.timer = KernelSender::Timer::kReorder;
  }
  return found;
}

/// Whether nothing can be learnt from that transmission any more.
bool TcpStream::is_known(const KernelSender::Transmission& transmission) const {
  if (transmission.segment < board_.first()) return true;
  const Scoreboard::Segment& segment = board_.at(transmission.segment);
  if (segment.sacked || (segment.lost && !segment.again)) return true;
  return kernel_->sent_at[static_cast<std::uint64_t>(transmission.segment)] != transmission.time;
}

void TcpStream::on_kernel_ack(double now, const Acknowledgement& ack, std::uint64_t number) {
  KernelSender& k = *kernel_;
  const std::int64_t old = board_.first();
  const std::int64_t upto = whole(ack.upto);
  if (upto < old) return;
  k.sample = -1;
  k.latest = kNever;
  const std::int64_t delivered = learn_kernel(now, number, upto);
  measure_kernel();
  if (upto > old) k.again = false;
  end_probe(upto);
  if (upto >= recover_) end_recovery(now);
  if (upto > old) arm_kernel(now);
  const bool newly_lost = find_late(now);
  if (state_ == State::kOpen || state_ == State::kDisorder) {
    state_ = board_.sacked() > 0 ? State::kDisorder : State::kOpen;
    if (board_.lost() > 0) recover_kernel();
  }
  if (state_ == State::kRecovery) {
    reduce_kernel(delivered, upto > old && !newly_lost);
  } else if (upto > old) {
    grow_kernel(now, delivered, upto);
  }
  send_kernel(now);
}

/// All that was sent when the last loss was seen has arrived.
void TcpStream::end_recovery(double now) {
  if (state_ != State::kRecovery && state_ != State::kLoss) return;
  if (state_ == State::kRecovery) congestion_.set_size(congestion_.threshold());
  kernel_->used_since = now;
  state_ = State::kOpen;
}

void TcpStream::grow_kernel(double now, std::int64_t delivered, std::int64_t upto) {
  congestion_.end_round(now, upto, board_.end());
  if (kernel_->sample >= 0) congestion_.acknowledged(now, kernel_->latest);
  kernel_->used_since = now;
  congestion_.set_limited(is_filled());
  congestion_.grow(now, delivered, upto, board_.end());
}

/// What the acknowledgement tells: segments that have arrived and were not known to.
std::int64_t TcpStream::learn_kernel(double now, std::uint64_t ack_number, std::int64_t upto) {
  std::int64_t segments = 0;
  auto& arrived = receiver_.out_of_order();
  while (!arrived.empty() && arrived.front().reported_by <= ack_number) {
    const std::int64_t segment = arrived.front().segment;
    arrived.pop();
    if (segment < upto || board_.sack(segment) == 0) continue;
    note_delivered(now, segment);
    ++segments;
  }
  for (std::int64_t i = board_.first(); i < upto; ++i) {
    if (board_.at(i).sacked) continue;
    note_delivered(now, i);
    ++segments;
  }
  board_.acknowledge(upto);
  while (kernel_->sent_at.begin() < static_cast<std::uint64_t>(upto)) kernel_->sent_at.pop();
  return segments;
}

void TcpStream::recover_kernel() {
  KernelSender& k = *kernel_;
  recover_ = board_.end();
  state_ = State::kRecovery;
  k.probe_end = -1;
  k.window_before = congestion_.size() / path_->segment;
  k.delivered = k.out = 0;
  congestion_.cut();
}

/// Proportional rate reduction. `progress`: the oldest segment was acknowledged, and none lost.
void TcpStream::reduce_kernel(std::int64_t delivered, bool progress) {
  if (delivered <= 0) return;
  KernelSender& k = *kernel_;
  k.delivered += delivered;
  const std::int64_t in_flight = segments_in(board_.in_flight());
  const std::int64_t threshold = congestion_.threshold() / path_->segment;
  std::int64_t send = 0;
  if (in_flight > threshold) {
    const std::int64_t before = std::max<std::int64_t>(k.window_before, 1);
    send = (threshold * k.delivered + before - 1) / before - k.out;
  } else {
    send = std::max(k.delivered - k.out, delivered) + (progress ? 1 : 0);
    send = std::min(send, threshold - in_flight);
  }
  send = std::max<std::int64_t>(send, k.out > 0 ? 0 : 1);
  congestion_.set_size((in_flight + send) * path_->segment);
}

/// Whether the window was filled counts for a whole one.
void TcpStream::note_use(bool limited) {
  KernelSender& k = *kernel_;
  const std::int64_t out = segments_in(board_.outstanding());
  if (board_.first() < k.use_end && !limited && (k.limited || out <= k.most_out)) return;
  k.limited = limited;
  k.most_out = out;
  k.use_end = board_.end();
}

bool TcpStream::is_filled() const {
  const KernelSender& k = *kernel_;
  if (k.limited) return true;
  return congestion_.is_starting() && congestion_.size() < 2 * k.most_out * path_->segment;
}

/// After a timeout's time in which the window was never filled, it shrinks to what was used.
void TcpStream::shrink_unused(double now) {
  KernelSender& k = *kernel_;
  if (is_filled()) {
    k.used = 0;
    k.used_since = now;
    return;
  }
  k.used = std::max(k.used, segments_in(board_.outstanding()));
  if (now - k.used_since < rto_) return;
  congestion_.waste(std::max(k.used * path_->segment, path_->initial_window));
  k.used = 0;
  k.used_since = now;
}

/// The timeout begins anew, or a probe comes first.
void TcpStream::arm_kernel(double now) {
  KernelSender& k = *kernel_;
  if (k.timer == KernelSender::Timer::kReorder && timer_ > now && timer_ < kNever) return;
  k.timer = KernelSender::Timer::kTimeout;
  k.timeout_from = now;
  timer_ = board_.empty() ? kNever : now + rto_;
  if (board_.empty() || state_ != State::kOpen || k.probe_end >= 0) return;
  const bool alone = segments_in(board_.outstanding()) == 1;
  const double wait = constants().probe_round_trips * smoothed_ +
                      (alone ? path_->min_rto : constants().probe_slack);
  timer_ = now + std::min(wait, rto_);
  k.timer = KernelSender::Timer::kProbe;
}

/// Sends what the window allows; a window that is not used shrinks.
void TcpStream::send_kernel(double now) {
  KernelSender& k = *kernel_;
  const std::uint64_t before = k.transmissions.end();
  const bool waits = send_bundles(now);
  const bool sent = k.transmissions.end() != before;
  const bool limited = waits || board_.in_flight() + path_->segment > congestion_.size();
  if (sent || (limited && unsent() > 0)) note_use(limited);
  if (!sent) return;
  if (state_ == State::kOpen) arm_kernel(now);
  if (constants().idle_restart && state_ == State::kOpen) shrink_unused(now);
}

}  // namespace gradwire::sim
