#include "sim/flow/tcp/joined_copies.h"

#include <algorithm>

namespace gradwire::sim {

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
