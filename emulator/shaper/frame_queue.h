#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

#include "sim/flow/queues/fair_queue.h"

namespace gradwire::emulator {

/// A frame on its way: where it is on its route, and whose it is.
struct Passage {
  std::uint32_t frame = 0;
  float bytes = 0;  ///< on the wire
  std::int32_t route = 0;
  std::int32_t hop = 0;    ///< the channel that it crosses next
  std::uint32_t flow = 0;  ///< frames of one flow share a queue where flows have their own
};

/// The frames that wait before a link of a constant rate, in a queue for each flow
/// (sim/flow/queues/fair_queue.h: FQ-CoDel, as Linux and ns-3 have it). What leaves it has a place
/// behind the one on the wire:
///     leaves(k) >= begins(k - 1),  begins(k) = max(leaves(k), ends(k - 1)),
///     ends(k) = begins(k) + bytes / rate
class FrameQueue {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `rate`: bytes/s of the link.
  FrameQueue(const sim::CoDelTimes& times, double rate);

  void push(const Passage& frame, double time);
  /// When the next one may leave; infinite: none waits.
  double next_turn() const { return queue_.empty() ? kNever : begins_; }
  /// It leaves at `now`, not before next_turn(), and is through the link at `departs`. Appends
  /// those that are dropped.
  Passage take(double now, double& departs, std::vector<Passage>& dropped);

 private:
  std::deque<Passage>& waiting_of(std::uint32_t flow);

  sim::FairQueue queue_;
  double rate_;
  double begins_ = -kNever;                                    ///< s: the last one on the wire
  double ends_ = -kNever;                                      ///< s: it is through
  std::unordered_map<std::uint32_t, std::int32_t> number_of_;  ///< in the queue, by flow
  std::vector<std::deque<Passage>> waiting_;                   ///< by that number
};

}  // namespace gradwire::emulator
