#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/flow/tcp/bottleneck.h"
#include "sim/flow/tcp/loss_sequence.h"
#include "sim/session/event_heap.h"

/// What happens to frames on the lab's links: each crosses the channels of its route, one after the
/// other; on each it waits in a queue (sim/flow/tcp/bottleneck.h), is sent at the channel's rate,
/// may be lost, and flies for the channel's delay. No clock and no sockets: times are given.
///
///     departs = max(arrives, the one before departs) + bytes / rate;  reaches = departs + delay
namespace gradwire::emulator {

class WireNetwork {
 public:
  struct Channel {
    double rate = 0;   ///< bytes/s
    double delay = 0;  ///< s
    double loss = 0;   ///< of each frame
    sim::Bottleneck::Discipline queue;
  };
  /// A frame that is through, or that is gone.
  struct Exit {
    double time = 0;
    std::uint32_t frame = 0;
    std::int32_t route = 0;
    bool lost = false;
  };
  struct Counts {
    std::int64_t entered = 0;
    std::int64_t left = 0;
    std::int64_t dropped = 0;  ///< by queues
    std::int64_t lost = 0;     ///< on the way
  };

  /// `routes`: channels of each, in order. Losses are drawn from `seed`, by channel.
  WireNetwork(const std::vector<Channel>& channels, std::vector<std::vector<int>> routes,
              std::uint64_t seed);

  /// Until then nothing is lost on the way (connections open undisturbed). Queues do drop.
  void set_lossy(bool lossy) { lossy_ = lossy; }
  /// Frame `frame` of `bytes` on the wire reaches the first channel of its route at `time`.
  void enter(std::uint32_t frame, double bytes, std::int32_t route, double time);
  /// Everything until `now`, in order of time; appends the frames that are through or gone.
  void advance(double now, std::vector<Exit>& exits);
  double next_event() const { return moves_.empty() ? kNever : moves_.top().time; }
  const Counts& counts() const { return counts_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Link {
    Channel channel;
    sim::Bottleneck bottleneck;
    sim::LossSequence losses;
  };
  struct Move {
    double time = 0;
    std::uint64_t order = 0;
    std::uint32_t frame = 0;
    float bytes = 0;
    std::int32_t route = 0;
    std::int32_t hop = 0;
  };

  bool cross(Move& move);

  std::vector<Link> links_;
  std::vector<std::vector<int>> routes_;
  sim::EventHeap<Move> moves_;
  bool lossy_ = false;
  Counts counts_;
};

}  // namespace gradwire::emulator
