#include "sim/flow/tcp/scoreboard.h"

#include <algorithm>

namespace gradwire::sim {

void Scoreboard::push(std::int64_t bytes) {
  segments_.push(
      {static_cast<std::uint32_t>(bytes) & ((1u << 28) - 1), false, false, false, false});
  sent_ += bytes;
}

void Scoreboard::send_again(std::int64_t number) {
  Segment& segment = at(number);
  if (segment.again) return;
  segment.again = segment.resent = true;
  again_ += segment.bytes;
}

void Scoreboard::count(const Segment& segment, std::int64_t bytes) {
  if (segment.sacked) sacked_ += bytes;
  if (segment.lost) lost_ += bytes;
  if (segment.again) again_ += bytes;
}

void Scoreboard::move(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  const auto moved = static_cast<std::uint32_t>(bytes);
  count(at(from), -bytes);
  at(from).bytes = (at(from).bytes - moved) & ((1u << 28) - 1);
  at(to).bytes = (at(to).bytes + moved) & ((1u << 28) - 1);
  count(at(to), bytes);
}

std::int64_t Scoreboard::acknowledge(std::int64_t upto) {
  std::int64_t fresh = 0;
  while (first() < upto) {
    const Segment& segment = segments_.front();
    sent_ -= segment.bytes;
    if (segment.sacked) sacked_ -= segment.bytes;
    if (segment.lost) lost_ -= segment.bytes;
    if (segment.again) again_ -= segment.bytes;
    if (!segment.sacked) fresh += segment.bytes;
    segments_.pop();
  }
  if (highest_[0] < first()) std::fill(std::begin(highest_), std::end(highest_), kNone);
  return fresh;
}

void Scoreboard::note_sacked(std::int64_t number) {
  for (std::int64_t& place : highest_)
    if (number > place) std::swap(number, place);
}

std::int64_t Scoreboard::sack(std::int64_t number) {
  if (number < first()) return 0;
  Segment& segment = at(number);
  if (segment.sacked) return 0;
  if (segment.lost) lost_ -= segment.bytes;
  segment.lost = false;
  segment.sacked = true;
  sacked_ += segment.bytes;
  note_sacked(number);
  return segment.bytes;
}

void Scoreboard::find_lost() {
  const std::int64_t upto = highest_[kDuplicates - 1];
  for (std::int64_t i = std::max(searched_, first()); i < upto; ++i) {
    Segment& segment = at(i);
    if (segment.sacked || segment.lost) continue;
    segment.lost = true;
    lost_ += segment.bytes;
    candidate_ = std::min(candidate_, i);
  }
  searched_ = std::max(searched_, upto);
}

void Scoreboard::mark_first_lost() {
  Segment& segment = segments_.front();
  if (segment.lost || segment.sacked) return;
  segment.lost = true;
  lost_ += segment.bytes;
  candidate_ = first();
}

void Scoreboard::mark_lost(std::int64_t number) {
  Segment& segment = at(number);
  if (segment.again) again_ -= segment.bytes;
  if (!segment.lost) lost_ += segment.bytes;
  segment.again = false;
  segment.lost = true;
  candidate_ = std::min(candidate_, number);
}

void Scoreboard::mark_all_lost() {
  lost_ = again_ = 0;
  for (std::int64_t i = first(); i < end(); ++i) {
    Segment& segment = at(i);
    segment.again = false;
    segment.lost = !segment.sacked;
    if (segment.lost) lost_ += segment.bytes;
  }
  candidate_ = first();
}

std::int64_t Scoreboard::next_lost() {
  const std::int64_t limit = highest_[0] == kNone ? end() : highest_[0];
  candidate_ = std::max(candidate_, first());
  while (candidate_ < limit) {
    const Segment& segment = at(candidate_);
    if (segment.lost && !segment.again && segment.bytes > 0) return candidate_;
    if (!segment.lost && !segment.sacked && candidate_ >= searched_) return kNone;
    ++candidate_;
  }
  return kNone;
}

std::int64_t Scoreboard::next_lost_anywhere() {
  if (lost_ == 0) return kNone;
  for (candidate_ = std::max(candidate_, first()); candidate_ < end(); ++candidate_) {
    const Segment& segment = at(candidate_);
    if (segment.lost && !segment.again) return candidate_;
    if (!segment.lost && !segment.sacked && !segment.again) return kNone;
  }
  return kNone;
}

std::int64_t Scoreboard::next_doubtful() const {
  const std::int64_t limit = highest_[0] == kNone ? end() : highest_[0];
  for (std::int64_t i = first(); i < limit; ++i) {
    const Segment& segment = at(i);
    if (!segment.sacked && !segment.again && segment.bytes > 0) return i;
  }
  return kNone;
}

}  // namespace gradwire::sim
