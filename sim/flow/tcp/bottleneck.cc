#include "sim/flow/tcp/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradwire::sim {
namespace {

constexpr double kSegmentRounding = 1e-6;  // of a segment
/// A share that changes more than so many times is not that of flows that come or go one by one.
constexpr double kFewCome = 4;

}  // namespace

void Bottleneck::set_rate(double now, double rate) {
  stretch_ = 1;
  kept_ = now;
  if (rate == rate_) return;
  if (rate > 0 && rate_ > 0) stretch_ = rate_ / rate;
  // Where other flows come or go, whose turn is next keeps it.
  const bool same_line = !std::exchange(line_changes_, false);
  const bool few = std::max(rate, rate_) <= kFewCome * std::min(rate, rate_);
  const double until = in_turn() ? waiting_->turn.end() : free_at_;
  if (same_line && few && until > now && discipline_->quantum > 0) {
    const double spacing = discipline_->quantum / rate_;
    kept_ = until - (std::ceil((until - now) / spacing - kSegmentRounding) - 1) * spacing;
  }
  free_at_ = moved(now, free_at_);
  begun_ = moved(now, begun_);
  // It is not decided yet whether these pass.
  if (dropped_ && dropped_->turn.leaves > now) move(now, dropped_->turn);
  if (in_turn()) move(now, waiting_->turn);
  // Both count from when a segment leaves, which may be yet to come.
  const double interval = codel_.times.interval;
  if (codel_.above_since >= 0)
    codel_.above_since = moved(now, codel_.above_since - interval) + interval;
  codel_.next_drop = moved(now, codel_.next_drop - codel_.spacing) + codel_.spacing;
  rate_ = rate;
}

/// When the next segment leaves the queue, and has the wire. Others' segments pass between two of
/// the stream's.
Bottleneck::Turn Bottleneck::next_turn(double now, double bytes, double behind) {
  double start = std::max(now, free_at_);
  double service = bytes / rate_;
  const bool shares = (!is_limited() || discipline_->spreads) && line_ > rate_;
  double others = shares ? service - bytes / line_ : 0;
  if (discipline_->spreads && others > 0) {
    start = std::max(now, free_at_ + others);
    service = bytes / line_;
    others = 0;
  }
  service -= others;
  if (others > 0 && rate_ > kStalled) others = wait_for_turn(now, bytes, behind, others);
  const double leaves = leaves_to_wire()         ? start + others
                        : discipline_->at_device ? std::max(now, begun_ + others)
                                                 : start;
  return {leaves, start + others, service};
}

void Bottleneck::move(double now, Turn& turn) const {
  const double end = moved(now, turn.end());
  turn.leaves = moved(now, turn.leaves);
  turn.start = moved(now, turn.start);
  turn.service = end - turn.start;
}

bool Bottleneck::pass(double now, double bytes, double behind) {
  const Turn turn = next_turn(now, bytes, behind);
  if (is_limited()) {
    if (!fits(now, bytes)) return false;
  } else if (rate_ > kStalled) {
    if (turn.leaves - now < codel_.times.target && !codel_.dropping) {
      codel_.above_since = -1;  // nearly always
    } else if (const CoDel before = codel_; codel_.drops(turn.leaves, turn.leaves - now)) {
      if (!dropped_) dropped_ = std::make_unique<Dropped>();
      *dropped_ = {before, turn};
      return false;
    }
    // What was dropped is sent again, and may come behind it.
    if (discipline_->at_device && !is_queue(behind) && !codel_.dropping) codel_.leave();
  }
  take(turn);
  return true;
}

void Bottleneck::begin_turn(double came, double bytes, double behind) {
  if (!waiting_) waiting_ = std::make_unique<Waiting>();
  *waiting_ = {next_turn(came, bytes, behind), bytes, true};
}

bool Bottleneck::end_turn(double came, double behind) {
  const double waited = leaves() - came;
  if (waited < codel_.times.target || (discipline_->at_device && !is_queue(behind))) {
    codel_.leave();
  } else if (codel_.drops(leaves(), waited)) {
    waiting_->open = behind > 0;
    return false;
  }
  waiting_->open = false;
  take(waiting_->turn);
  return true;
}

void Bottleneck::hand_on(double bytes) {
  const double less = waiting_->bytes - bytes;
  credit_ += less;
  sent_ -= less;
  waiting_->turn.service *= bytes / waiting_->bytes;
  waiting_->bytes = bytes;
}

/// s that others take before the segment, as fair queueing serves them: each stream in turn sends a
/// full segment's bytes, and the next segment with what is left of that. Others are taken to do as
/// this stream does: those behind it in its last turn, those before it in this one. `even`: what
/// others take in the mean for so many bytes.
double Bottleneck::wait_for_turn(double now, double bytes, double behind, double even) {
  const double full = discipline_->quantum > 0 ? discipline_->quantum : bytes;
  if (free_at_ <= now) {
    // Until its next turn would have come the stream keeps its place in the round, though it is
    // empty; then it is a new one.
    const double place = place_in_round();
    credit_ = full - bytes + (now < place ? credit_ : 0);
    sent_ = bytes;
    if (now < place) return place - now;
    if (firsts_) {
      ahead_ = std::max(0.0, *firsts_ - now);
      *firsts_ = now + ahead_ + bytes / line_;
    }
    return std::min(even, ahead_);
  }
  if (credit_ > 0) {
    credit_ -= bytes;
    sent_ += bytes;
    return 0;
  }
  credit_ += full - bytes;
  const double last = sent_;
  sent_ = bytes;
  const double this_one = bytes + (credit_ > 0 && behind > 0 ? full : 0);
  const double before = std::min(1.0, ahead_ / (even * full / bytes));
  return even / bytes * ((1 - before) * last + before * this_one);
}

double Bottleneck::round_left(double now) const {
  if (free_at_ <= now || discipline_->quantum <= 0 || discipline_->line_rate <= rate_) return 0;
  const double others = discipline_->quantum * (1 / rate_ - 1 / discipline_->line_rate);
  return std::max(0.0, others - ahead_) * rate_;
}

/// Whether the queue with a limit has room for a segment that is sent at `now`.
bool Bottleneck::fits(double now, double bytes) {
  if (rate_ >= discipline_->limit_below) return filled(now, bytes) <= discipline_->elsewhere;
  if (discipline_->before <= 0) return filled(now, bytes) <= room_;
  before_free_ = std::max(now, before_free_) + bytes / discipline_->before;
  return filled(before_free_, bytes) <= room_;
}

/// Bytes in the queue with a segment that comes there at `now`.
double Bottleneck::filled(double now, double bytes) const {
  if (!discipline_->at_device) return std::max(0.0, free_at_ - now) * rate_ + bytes;
  // The last one's turn comes when those before it are through: the one on the wire and the one in
  // the place behind it are not in the queue. (All as large as this one.)
  const double rounding = discipline_->comes_first ? kSegmentRounding : -kSegmentRounding;
  const double before = std::ceil((begun_ - now) * rate_ / bytes + rounding) - 1;
  return (std::max(before, 0.0) + 1) * (bytes - discipline_->framing);
}

void Bottleneck::spare() {
  codel_ = dropped_->before;
  codel_.leave();
  take(dropped_->turn);
}

}  // namespace gradwire::sim
