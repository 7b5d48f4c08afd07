#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "emulator/shaper/wire_channel.h"
#include "sim/session/event_heap.h"

/// What happens to frames on emulated links: each crosses the channels of its route, one after the
/// other (emulator/shaper/wire_channel.h). No clock and no sockets: times are given.
namespace gradwire::emulator {

class WireNetwork {
 public:
  using Channel = WireChannel::Spec;
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

  /// Until then links are steady, and nothing is lost on the way. Queues do drop. `epoch`: time 0
  /// of schedules and outages.
  void set_live(bool live, double epoch);
  /// Frame `frame` of `bytes` on the wire reaches the first channel of its route at `time`. `flow`:
  /// of its connection, and of no other.
  void enter(std::uint32_t frame, double bytes, std::int32_t route, double time,
             std::uint32_t flow = 0);
  /// Everything until `now`, in order of time; appends the frames that are through or gone.
  void advance(double now, std::vector<Exit>& exits);
  double next_event() const { return moves_.empty() ? kNever : moves_.top().time; }
  const Counts& counts() const { return counts_; }
  const WireChannel& channel(std::size_t id) const { return channels_[id]; }
  std::size_t channels() const { return channels_.size(); }
  /// Whether a channel of it follows a Mahimahi trace.
  bool follows_trace(std::int32_t route) const {
    return follows_trace_[static_cast<std::size_t>(route)];
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// A frame reaches its next channel, or its end; or (hop < 0) the turn of those that wait before
  /// channel `route` comes.
  struct Move {
    double time = 0;
    std::uint64_t order = 0;
    Passage frame;
  };

  void arrive(double time, const Passage& frame, std::vector<Exit>& exits);
  void cross(double time, Passage frame, WireChannel& channel, std::vector<Exit>& exits);
  void go_on(WireChannel::Fate fate, double time, Passage frame, std::vector<Exit>& exits);
  void drop(double time, const Passage& frame, std::vector<Exit>& exits);
  void wait_for_turn(int channel, double time);
  void take_turn(int channel, double time, std::vector<Exit>& exits);

  std::vector<WireChannel> channels_;
  std::vector<std::vector<int>> routes_;
  std::vector<bool> follows_trace_;  ///< by route
  std::vector<bool> turn_is_due_;    ///< by channel: it is among moves_
  std::vector<Passage> dropped_;
  sim::EventHeap<Move> moves_;
  Counts counts_;
};

}  // namespace gradwire::emulator
