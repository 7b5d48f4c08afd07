#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sim/flow/tcp/fair_queue.h"
#include "sim/flow/tcp/loss_sequence.h"
#include "sim/flow/tcp/numbered_queue.h"
#include "sim/flow/tcp/receiver.h"

/// A connection's acknowledgements on a way back that is followed link by link: they wait in the
/// queues with the data of others, make it wait, and are dropped where there is no room or where a
/// link loses them.
namespace gradwire::sim {

class QueuedAcks {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `wire`: bytes of an acknowledgement; `block`: for each block that it names on top.
  QueuedAcks(double wire, double block) : wire_(wire), block_(block) {}
  /// Another queue on the way, in which they are the flow `flow`, before a link from the end of
  /// whose time on it an acknowledgement takes `onwards` s to the next one, or to the sender;
  /// pass() goes on. `loss`: at the end of that link; null: none is lost.
  void add(FairQueue& queue, std::int32_t flow, double onwards,
           std::unique_ptr<LossSequence> loss = {}) {
    places_.push_back({&queue, flow, onwards, std::move(loss)});
  }
  /// Queue number `place`, counted from 0, has let acknowledgement `number` of `wire` bytes go,
  /// which has passed the link at `departure`.
  void pass(std::size_t place, std::uint64_t number, std::int32_t wire, double departure);

  /// Bytes that the link behind that queue has carried.
  double carried(std::size_t place) const { return places_[place].carried; }

  /// s: when the next acknowledgement comes to a queue; infinite: none is known.
  double next(const TcpReceiver& receiver) const;
  /// It does; `time`: next().
  void take(TcpReceiver& receiver, double time);
  /// s: when the next one arrives that is through all of them; infinite: none is.
  double first_arrival() const { return arrived_.empty() ? kNever : arrived_.front().time; }
  /// Its number: those before it were dropped or lost. (As many as have come to the first queue, if
  /// none.)
  std::uint64_t first_arrived() const {
    return arrived_.empty() ? entered_ : arrived_.front().number;
  }
  void pop() { arrived_.pop(); }

 private:
  struct Coming {
    double time = 0;  ///< s
    std::uint64_t number = 0;
    std::int32_t wire = 0;  ///< bytes
  };
  struct Place {
    FairQueue* queue = nullptr;
    std::int32_t flow = -1;  ///< of it
    double onwards = 0;
    std::unique_ptr<LossSequence> loss = {};
    double carried = 0;
    NumberedQueue<Coming> coming = {};
  };
  double enters(const TcpReceiver& receiver) const;
  void enter(std::size_t place, const Coming& ack);

  double wire_;
  double block_;
  std::vector<Place> places_;  ///< of the first nothing is `coming`
  std::uint64_t entered_ = 0;  ///< those before it have come to the first queue
  NumberedQueue<Coming> arrived_;
};

}  // namespace gradwire::sim
