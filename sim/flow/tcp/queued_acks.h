#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/flow/tcp/numbered_queue.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/flow/tcp/shared_queue.h"

/// A connection's acknowledgements on a way back over links whose queues are first come, first
/// served: they wait there behind the data of others, make it wait, and are dropped where there is
/// no room.
namespace gradwire::sim {

class QueuedAcks {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `wire`: bytes of an acknowledgement. `to`: s, from the receiver to the first queue.
  QueuedAcks(double wire, double to) : wire_(wire), to_(to) {}
  /// Another queue on the way, before a link of `rate` bytes/s, from the end of whose time on it an
  /// acknowledgement takes `onwards` s to the next one, or to the sender.
  /// `first`: SharedQueue::pass().
  void add(SharedQueue& queue, double rate, double onwards, bool first) {
    places_.push_back({&queue, rate, onwards, first, {}});
  }

  /// s: when the next acknowledgement comes to a queue; infinite: none is known.
  double next(const TcpReceiver& receiver) const;
  /// It does; `time`: next().
  void take(TcpReceiver& receiver, double time);
  /// s: when the next one arrives that is through all of them; infinite: none is.
  double first_arrival() const { return arrived_.empty() ? kNever : arrived_.front().time; }
  /// Its number: those before it were dropped. (As many as have come to the first queue, if none.)
  std::uint64_t first_arrived() const {
    return arrived_.empty() ? entered_ : arrived_.front().number;
  }
  void pop() { arrived_.pop(); }

 private:
  struct Coming {
    double time = 0;   ///< s
    double order = 0;  ///< s: the same, and SharedQueue::later()
    std::uint64_t number = 0;
  };
  struct Place {
    SharedQueue* queue = nullptr;
    double rate = 0;
    double onwards = 0;
    bool first = false;
    NumberedQueue<Coming> coming;
  };
  double enters(const TcpReceiver& receiver) const;
  void enter(std::size_t place, const Coming& ack);

  double wire_;
  double to_;
  std::vector<Place> places_;  ///< of the first nothing is `coming`
  std::uint64_t entered_ = 0;  ///< those before it have come to the first queue
  NumberedQueue<Coming> arrived_;
};

}  // namespace gradwire::sim
