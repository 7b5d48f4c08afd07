#include "sim/flow/tcp/scoreboard.h"

#include <algorithm>

namespace gradwire::sim {

void Scoreboard::send_again(std::int64_t number) {
  Segment& segment = at(number);
  if (segment.again) return;
  segment.again = segment.resent = true;
  again_ += segment.bytes;
}

inline void Scoreboard::count(const Segment& segment, std::int64_t bytes) {
  if (segment.sacked) sacked_ += bytes;
  if (segment.lost) lost_ += bytes;
  if (segment.again) again_ += bytes;
}

void Scoreboard::move(std::int64_t from, std::int64_t to, std::int64_t bytes) {
  const auto moved = static_cast<std::uint32_t>(bytes);
  count(at(from), -bytes);
  at(from).bytes = (at(from).bytes - moved) & kMostBytes;
  at(to).bytes = (at(to).bytes + moved) & kMostBytes;
  count(at(to), bytes);
  doubtful_ = std::min({doubtful_, from, to});
}

std::int64_t Scoreboard::acknowledge(std::int64_t upto) {
  std::int64_t fresh = 0;
  while (first() < upto) {
    const Segment& segment = segments_.front();
    sent_ -= segment.bytes;
    count(segment, -static_cast<std::int64_t>(segment.bytes));
    if (!segment.sacked) fresh += segment.bytes;
    segments_.pop();
  }
  if (highest_[0] < first()) std::fill(std::begin(highest_), std::end(highest_), kNone);
  return fresh;
}

std::int64_t Scoreboard::sack(std::int64_t number) {
  if (number < first()) return 0;
  Segment& segment = at(number);
  if (segment.sacked) return 0;
  if (segment.lost) lost_ -= segment.bytes;
  segment.lost = false;
  segment.sacked = true;
  sacked_ += segment.bytes;
  for (std::int64_t& place : highest_)
    if (number > place) std::swap(number, place);
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
  doubtful_ = std::min(doubtful_, number);
}

void Scoreboard::mark_all_lost() {
  lost_ = again_ = 0;
  for (std::int64_t i = first(); i < end(); ++i) {
    Segment& segment = at(i);
    segment.again = false;
    segment.lost = !segment.sacked;
    if (segment.lost) lost_ += segment.bytes;
  }
  candidate_ = doubtful_ = first();
}

std::int64_t Scoreboard::find_next_lost() {
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

std::int64_t Scoreboard::find_next_lost_anywhere() {
  for (candidate_ = std::max(candidate_, first()); candidate_ < end(); ++candidate_) {
    const Segment& segment = at(candidate_);
    if (segment.lost && !segment.again) return candidate_;
    if (!segment.lost && !segment.sacked && !segment.again) return kNone;
  }
  return kNone;
}

std::int64_t Scoreboard::next_doubtful() {
  const std::int64_t limit = highest_[0] == kNone ? end() : highest_[0];
  for (doubtful_ = std::max(doubtful_, first()); doubtful_ < limit; ++doubtful_) {
    const Segment& segment = at(doubtful_);
    if (!segment.sacked && !segment.again && segment.bytes > 0) return doubtful_;
  }
  return kNone;
}

void JoinedCopies::join(Scoreboard& board, std::int64_t number, std::int64_t most) {
  std::int64_t next = number + 1;
  while (next < board.end() && board.at(next).bytes == 0) ++next;
  if (next >= board.end()) return;
  const Scoreboard::Segment& own = board.at(number);
  const Scoreboard::Segment& other = board.at(next);
  if (other.sacked || other.lost != own.lost) return;
  const std::int64_t room = most - static_cast<std::int64_t>(own.bytes);
  const std::int64_t bytes = std::min(room, static_cast<std::int64_t>(other.bytes));
  if (bytes <= 0) return;
  board.move(next, number, bytes);
  moved_.push_back({number, next, bytes, false});
}

void JoinedCopies::give_back(Scoreboard& board, const Moved& moved) {
  board.move(moved.holder, moved.number, moved.bytes);
  const Scoreboard::Segment& segment = board.at(moved.number);
  if (segment.lost && 2 * moved.bytes >= static_cast<std::int64_t>(segment.bytes))
    board.send_again(moved.number);  // most of it is on its way
}

void JoinedCopies::part(Scoreboard& board, std::int64_t upto) {
  for (std::size_t i = moved_.size(); i-- > 0;) {  // latest first: a holder may have taken, too
    const Moved moved = moved_[i];
    if (moved.holder == kAcknowledged || moved.holder >= upto || moved.number < upto) continue;
    moved_[i].holder = kAcknowledged;
    if (!moved.arrived || board.at(moved.number).bytes == 0) {
      for (std::size_t j = moved_.size(); j-- > 0;) {
        if (moved_[j].holder != moved.number || moved_[j].number < upto) continue;
        give_back(board, moved_[j]);
        moved_[j].bytes = 0;
      }
      give_back(board, moved);
      moved_[i].bytes = 0;
    }
  }
  std::erase_if(moved_, [&](const Moved& each) { return each.bytes == 0 || each.number < upto; });
}

std::int64_t JoinedCopies::original(const Scoreboard& board, std::int64_t number) const {
  std::int64_t bytes = board.at(number).bytes;
  for (const Moved& each : moved_) {
    if (each.number == number) bytes += each.bytes;
    if (each.holder == number) bytes -= each.bytes;
  }
  return bytes;
}

int JoinedCopies::arrive(const Scoreboard& board, std::int64_t number, std::int64_t bytes) {
  if (number < board.first()) return 1;
  const std::int64_t own = original(board, number);
  std::int64_t left = bytes - own;
  for (const Moved& each : moved_)
    if (each.number == number) left += each.bytes;  // its first bytes went before it
  if (bytes == own || left <= 0) return 1;
  int count = 1;
  for (Moved& each : moved_)
    if (each.holder == number) each.arrived = true;
  for (std::int64_t next = number + 1; next < board.end(); ++next, ++count) {
    const std::int64_t whole = original(board, next);
    if (left < whole) break;
    left -= whole;
  }
  return count;
}

}  // namespace gradwire::sim
