#pragma once
#include <cstddef>
#include <span>

#include "base/thread_team.h"
#include "bench/rows/timing.h"

/// The memory roof: the time that moving an operation's bytes takes, by loops that do nothing else,
/// on the same arrays and threads, in the same rounds.
namespace gradwire::bench {

/// Bytes that an operation must move, an element. What is read and written in place stands apart
/// from plain reads and writes, since memory serves it differently.
struct Traffic {
  double reads = 0;
  double writes = 0;
  double updates = 0;  ///< values that are read, changed and stored again: 8 bytes each
  double adds = 0;     ///< values added to others in place: 12 bytes each

  double total() const { return reads + writes + updates + adds; }
};

/// The five loops, measured in turns with what they are the roof of.
class Roof {
 public:
  /// `source` and `target` have equal sizes; the target's values are lost. Adds its loops to
  /// `rounds`; all of them must outlive `rounds`' run.
  Roof(std::span<const float> source, std::span<float> target, ThreadTeam* team, Rounds& rounds);

  /// Seconds that `traffic` takes for this many elements, once `rounds` has run: what is both read
  /// and written at the speed of a copy, further reads at that of prefetched reading, further
  /// writes at that of filling, updates and adds at those of loops that do them.
  double seconds(const Traffic& traffic, std::size_t elements) const;

  /// GB/s (10^9 bytes moved a second) of each loop.
  struct Speeds {
    double read = 0, copy = 0, fill = 0, update = 0, add = 0;
  };
  Speeds speeds() const;

 private:
  double byte_seconds(std::size_t call, double bytes_per_element) const;

  const Rounds& rounds_;
  std::size_t elements_;
  std::size_t read_, copy_, fill_, update_, add_;
};

}  // namespace gradwire::bench
