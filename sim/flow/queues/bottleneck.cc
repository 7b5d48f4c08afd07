#include "sim/flow/queues/bottleneck.h"

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
  if (same_line && few && free_at_ > now && discipline_->quantum > 0) {
    const double spacing = discipline_->quantum / rate_;
    kept_ = free_at_ - (std::ceil((free_at_ - now) / spacing - kSegmentRounding) - 1) * spacing;
  }
  free_at_ = moved(now, free_at_);
  begun_ = moved(now, begun_);
  if (dropped_ && dropped_->leaves > now) {  // it is not decided yet whether it passes
    dropped_->leaves = moved(now, dropped_->leaves);
    dropped_->start = moved(now, dropped_->start);
    dropped_->service *= stretch_;
  }
  // Both count from when a segment leaves, which may be yet to come.
  const double interval = codel_.times.interval;
  if (codel_.above_since >= 0)
    codel_.above_since = moved(now, codel_.above_since - interval) + interval;
  codel_.next_drop = moved(now, codel_.next_drop - codel_.spacing) + codel_.spacing;
  rate_ = rate;
}

bool Bottleneck::pass(double now, double bytes, double behind) {
  double start = std::max(now, free_at_);
  double service = bytes / rate_;
  // Others' segments pass between two of the stream's.
  double others = line_ > rate_ ? service - bytes / line_ : 0;
  if (discipline_->spreads && others > 0) {
    start = std::max(now, free_at_ + others);
    service = bytes / line_;
    others = 0;
  }
  if (others > 0 && rate_ > kStalled) {
    const double before = others;
    others = wait_for_turn(now, bytes, behind, others);
    service += others - before;
  }
  if (rate_ > kStalled) {
    // A link that has become slower than the line is the one that changes.
    const bool at_wire = discipline_->at_wire || line_ < discipline_->line_rate;
    const double leaves = at_wire                  ? start + others
                          : discipline_->at_device ? std::max(now, begun_ + others)
                                                   : start;
    if (leaves - now < codel_.times.target && !codel_.dropping) {
      codel_.above_since = -1;  // nearly always
    } else if (const CoDel before = codel_; codel_.drops(leaves, leaves - now)) {
      if (!dropped_) dropped_ = std::make_unique<Dropped>();
      *dropped_ = {before, leaves, start + others, service - others};
      return false;
    }
    // What was dropped is sent again, and may come behind it.
    if (discipline_->at_device && !is_queue(behind) && !codel_.dropping) codel_.leave();
  }
  dropped_.reset();  // something has come behind it
  begun_ = start + others;
  free_at_ = start + service;
  return true;
}

/// s that others take before the segment, as fair queueing serves them: each stream in turn sends a
/// full segment's bytes, and the next segment with what is left of that. Others are taken to do as
/// this stream does. `even`: what others take in the mean for so many bytes.
double Bottleneck::wait_for_turn(double now, double bytes, double behind, double even) {
  const double full = discipline_->quantum > 0 ? discipline_->quantum : bytes;
  if (free_at_ <= now) {
    credit_ = full - bytes;
    return even;
  }
  credit_ -= bytes;
  if (credit_ + bytes > 0) return 0;
  credit_ += full;
  return even / bytes * (bytes + (credit_ > 0 && behind > 0 ? full : 0));
}

void Bottleneck::spare() {
  codel_ = dropped_->before;
  codel_.leave();
  begun_ = dropped_->start;
  free_at_ = dropped_->start + dropped_->service;
}

}  // namespace gradwire::sim
