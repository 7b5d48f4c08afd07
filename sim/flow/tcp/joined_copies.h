#pragma once
#include <cstdint>
#include <vector>

#include "sim/flow/tcp/scoreboard.h"

/// Short segments that go out again with the bytes that follow them, as ns-3's do: what is sent
/// again takes from the next segment, if that is not sacked and as lost as itself, until it is a
/// full one (tcp-tx-buffer.cc, GetTransmittedSegment). The next one keeps the rest, or nothing.
///
/// Segments keep their numbers. Where it breaks down: bytes that have arrived with another segment
/// are acknowledged with the rest of their own.
namespace gradwire::sim {

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
