#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "emulator/shaper/frame_queue.h"
#include "sim/cluster/channel_clock.h"
#include "sim/cluster/link.h"
#include "sim/flow/losses/burst_chain.h"
#include "sim/flow/losses/loss_sequence.h"
#include "sim/flow/queues/codel.h"

/// What happens to frames on one direction of an emulated link. No clock and no sockets: times are
/// given, s, of one clock.
///
///     departs = max(arrives, the one before departs), and on until the link has carried its bytes
///     reaches = max(departs + delay + jitter u, the one before reaches),  0 <= u < 1
///
/// All flows share one queue, which drops what finds no room in it or by CoDel; or each has its own
/// (frame_queue.h). The arithmetic is the simulators': sim/cluster/channel_clock.h says when a link
/// that follows a schedule or a trace, or that goes out, has carried a frame; losses and jitter are
/// drawn as `packet` draws them (sim/cluster/channel_draws.h), bursts by
/// sim/flow/losses/burst_chain.h.
namespace gradwire::emulator {

class WireChannel {
 public:
  struct Spec {
    double rate = 0;   ///< bytes/s
    double delay = 0;  ///< s
    double loss = 0;   ///< of each frame
    sim::CoDelTimes codel;
    double limit = 0;  ///< of the queue, bytes; 0: CoDel
    /// Each flow has a queue of its own (frame_queue.h), where the link has a constant rate and the
    /// queue no size. Else all share one.
    bool fair = false;
    double jitter = 0;  ///< s
    sim::BurstLoss burst{};
    sim::RateSchedulePtr schedule{};  ///< `rate` is its nominal one
    double schedule_offset = 0;       ///< s
    std::vector<sim::Outage> outages{};

    bool has_flow_queues() const { return fair && !changes() && limit <= 0; }
    bool changes() const { return schedule || !outages.empty(); }
    bool follows_trace() const { return schedule && !schedule->opportunities().empty(); }
  };
  struct Counts {
    double bytes = 0;  ///< of frames that it has carried
    double busy = 0;   ///< s, that it took them
    std::int64_t frames = 0;
    std::int64_t dropped = 0;  ///< by the queue
    std::int64_t lost = 0;     ///< on the way
  };
  enum class Fate : std::uint8_t { kPasses, kDropped, kLost };

  WireChannel(const Spec& spec, std::uint64_t seed, sim::ChannelId id);

  /// Until then it has its nominal rate and its delay, and loses nothing: connections open
  /// undisturbed. `epoch`: time 0 of schedules and outages.
  void set_live(bool live, double epoch);
  /// A frame of `bytes` on the wire comes at `time`, not before the last one came; where it passes,
  /// `time` becomes when it reaches the other end.
  Fate cross(double& time, double bytes);

  /// Null: all flows share one queue, and frames cross(). Else they wait here, and pass() when they
  /// have left it.
  FrameQueue* flow_queues() { return flow_queues_ ? &*flow_queues_ : nullptr; }
  /// A frame is through at `time`, which becomes when it reaches the other end.
  Fate pass(double& time, double bytes);
  void note_drop() { ++counts_.dropped; }
  const Counts& counts() const { return counts_; }

 private:
  struct Waiting {
    double departs = 0;
    double bytes = 0;
  };

  Fate fly(double& time, double bytes);
  std::optional<double> wait(double now, double bytes);
  double end_of(double start, double bytes);
  bool loses();
  double flight();

  Spec spec_;
  RandomStream jitter_draws_;
  std::optional<sim::ChannelClock> clock_;  ///< of a link that changes
  sim::CoDel codel_;
  std::deque<Waiting> waiting_;
  double queued_ = 0;  ///< bytes
  double free_at_ = 0;
  std::optional<FrameQueue> flow_queues_;
  sim::LossSequence losses_;
  std::optional<sim::BurstChain> bursts_;
  std::uint64_t jitters_ = 0;
  double last_reached_ = 0;
  bool live_ = false;
  double epoch_ = 0;
  Counts counts_;
};

}  // namespace gradwire::emulator
