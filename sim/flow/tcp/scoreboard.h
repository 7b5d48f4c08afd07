#pragma once
#include <cstdint>
#include <vector>

#include "sim/flow/tcp/numbered_queue.h"

/// What a TCP sender knows of the segments that it has sent and that are not acknowledged: which
/// were selectively acknowledged, which it takes for lost, which it has sent again (RFC 6675).
///
///     lost      = not sacked, and three sacked segments beyond it (or marked by a timeout)
///     in flight = sent - sacked - lost + sent again
/// A segment that was sent again and lost again stays in flight until a timeout.
namespace gradwire::sim {

class Scoreboard {
 public:
  struct Segment {
    std::uint32_t bytes : 28 = 0;
    bool sacked : 1 = false;
    bool lost : 1 = false;
    bool again : 1 = false;   ///< sent again since it was taken for lost
    bool resent : 1 = false;  ///< ... or ever
  };
  static constexpr std::int64_t kNone = -1;
  static constexpr int kDuplicates = 3;

  bool empty() const { return segments_.empty(); }
  /// Gives back memory. Precondition: it is empty.
  void release() { segments_.release(); }
  std::int64_t first() const { return static_cast<std::int64_t>(segments_.begin()); }
  std::int64_t end() const { return static_cast<std::int64_t>(segments_.end()); }
  Segment& at(std::int64_t number) { return segments_[static_cast<std::uint64_t>(number)]; }
  const Segment& at(std::int64_t number) const {
    return segments_[static_cast<std::uint64_t>(number)];
  }
  std::int64_t in_flight() const { return sent_ - sacked_ - lost_ + again_; }  ///< bytes
  std::int64_t outstanding() const { return sent_; }                           ///< bytes
  std::int64_t sacked() const { return sacked_; }                              ///< bytes
  std::int64_t lost() const { return lost_; }                                  ///< bytes

  void push(std::int64_t bytes) {
    segments_.push({static_cast<std::uint32_t>(bytes) & kMostBytes, false, false, false, false});
    sent_ += bytes;
  }
  /// Segment `number` goes out once more.
  void send_again(std::int64_t number);
  /// So many bytes of one segment are another's from now on.
  void move(std::int64_t from, std::int64_t to, std::int64_t bytes);
  /// Drops all segments before `upto`. Returns the bytes that no earlier call had reported.
  std::int64_t acknowledge(std::int64_t upto);
  /// Segment `number` has arrived. Returns its bytes, or 0 if that was known.
  std::int64_t sack(std::int64_t number);
  /// After calls of sack(): marks the segments that count as lost by them.
  void find_lost();
  void mark_first_lost();
  /// Marks segment `number`, sent again or not. Precondition: it is not sacked.
  void mark_lost(std::int64_t number);
  void mark_all_lost();

  /// The first lost segment that was not sent again, below the highest sacked one where there is
  /// one; kNone: none.
  std::int64_t next_lost() { return lost_ == 0 ? kNone : find_next_lost(); }
  /// ... wherever it is.
  std::int64_t next_lost_anywhere() { return lost_ == 0 ? kNone : find_next_lost_anywhere(); }
  /// The first one that is neither sacked nor sent again, below the highest sacked one where there
  /// is one; kNone: none.
  std::int64_t next_doubtful();

 private:
  static constexpr std::uint32_t kMostBytes = (1u << 28) - 1;

  std::int64_t find_next_lost();
  std::int64_t find_next_lost_anywhere();
  void count(const Segment& segment, std::int64_t bytes);

  NumberedQueue<Segment> segments_;
  std::int64_t sent_ = 0;  ///< bytes, as those below
  std::int64_t sacked_ = 0;
  std::int64_t lost_ = 0;
  std::int64_t again_ = 0;
  /// The highest sacked segments, highest first.
  std::int64_t highest_[kDuplicates] = {kNone, kNone, kNone};
  std::int64_t searched_ = 0;   ///< below it, what is not sacked is lost
  std::int64_t candidate_ = 0;  ///< below it, nothing is lost and not sent again
  std::int64_t doubtful_ = 0;   ///< below it, all is sacked, sent again or empty
};

/// Short segments that go out again with the bytes that follow them, as ns-3's do: what is sent
/// again takes from the next segment, if that is not sacked and as lost as itself, until it is a
/// full one (tcp-tx-buffer.cc, GetTransmittedSegment). The next one keeps the rest, or nothing.
///
/// Segments keep their numbers. Where it breaks down: bytes that have arrived with another segment
/// are acknowledged with the rest of their own.
class JoinedCopies {
 public:
  /// Segment `number`, not acknowledged, is about to go out again with `most` bytes at most.
  void join(Scoreboard& board, std::int64_t number, std::int64_t most);
  /// All before `upto` is about to be acknowledged: what went out with it and has not arrived is
  /// the next segments' again, which are then on their way.
  void part(Scoreboard& board, std::int64_t upto);
  /// Bytes of the segment when it went out first.
  std::int64_t original(const Scoreboard& board, std::int64_t number) const;
  /// How many segments are there with a copy of `number` that has so many bytes, which arrives.
  int arrive(const Scoreboard& board, std::int64_t number, std::int64_t bytes);

 private:
  static constexpr std::int64_t kAcknowledged = -1;
  struct Moved {
    std::int64_t holder = 0;  ///< with which they went out
    std::int64_t number = 0;  ///< whose bytes they are
    std::int64_t bytes = 0;
    bool arrived = false;
  };
  void give_back(Scoreboard& board, const Moved& moved);

  std::vector<Moved> moved_;  ///< few
};

}  // namespace gradwire::sim
