#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "sim/flow/losses/loss_sequence.h"
#include "sim/flow/queues/bottleneck.h"
#include "sim/flow/tcp/numbered_queue.h"
#include "sim/flow/tcp/stream.h"

/// A TCP stream of the fluid network, and what carries its segments there: a bottleneck of its own
/// (bottleneck.h), which serves them at the share of the connection.
///
/// A stream needs no event for a packet: with its share known, the fate of a segment (its
/// departure, whether it is lost, its arrival, the acknowledgement it causes) follows as soon as it
/// is sent. Events are acknowledgements that reach the sender, its timers, and deliveries.
///
/// Where it breaks down: one bottleneck a path, without a limit of its own; acknowledgements never
/// wait behind data; segments that wait are served at the new share as soon as it changes, whatever
/// others have queued.
namespace gradwire::sim {

/// What delays a connection's acknowledgements on their way to the sender, beside distance: a slow
/// link, which they pass one after the other, and outages, before which they wait:
///     arrives(k) = max(sent(k) + latency, arrives(k - 1) + spacing)
///
/// Where it breaks down: one outage at a time, and what waited for its end comes at once; the queue
/// before a slow link drops none.
class WayBack {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `spacing`: s, of acknowledgements on their slowest link.
  explicit WayBack(double spacing) : spacing_(spacing) {}

  /// When the next acknowledgement arrives, which by distance alone would at `direct`; infinite: it
  /// waits for the end of an outage. Those before it have been passed to arrived().
  double arrival(double direct) const {
    if (direct == kNever || direct - behind_ >= closed_since_) return kNever;
    return std::max(direct, last_ + spacing_);
  }
  void arrived(double time) { last_ = std::max(last_, time); }

  bool is_closed() const { return closed_since_ < kNever; }
  double behind() const { return behind_; }
  /// An outage begins at `now`, s; from its link on acknowledgements take `behind` more, s.
  void close(double now, double behind) {
    closed_since_ = now;
    behind_ = behind;
  }
  /// It ends at `now`: what would have come by distance at `direct` comes then.
  double released(double now, double direct) const {
    return direct - behind_ >= closed_since_ ? std::max(direct, now + behind_) : direct;
  }
  void open() { closed_since_ = kNever; }

 private:
  double spacing_;
  double last_ = -kNever;
  double closed_since_ = kNever;
  double behind_ = 0;
};

class FluidStream : SegmentCarrier {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `data`, `acks`: which segments and which acknowledgements are lost. Streams may share a path.
  FluidStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
              LossSequence data, LossSequence acks);

  TcpStream& tcp() { return tcp_; }
  const TcpStream& tcp() const { return tcp_; }
  Bottleneck& bottleneck() { return bottleneck_; }
  const Bottleneck& bottleneck() const { return bottleneck_; }

  /// Bytes a second that the bottleneck serves from now on.
  void serve(double now, double rate);
  /// Acknowledgements wait before a link that carries nothing, behind which they take `behind`
  /// more, s; negative: they wait for none.
  void hold_acks(double now, double behind);
  double next_event() const {
    return std::min({next_ack(), tcp_.next_event(), tcp_.first_arrival(), decision(), next_turn()});
  }
  /// Everything that happens until `now`, in order; until `ahead` while there is more to send: then
  /// a message written meanwhile changes nothing.
  void run(double now, double ahead = 0);
  /// Takes over a burst of so many wire bytes that the connection sent beside the stream, and that
  /// left the bottleneck evenly from `began` to `ended`, s: of it all counts as in flight that is
  /// not acknowledged at `now`. Segments are full but for its last one. Returns their number.
  /// Between messages; paths that lose nothing, not by Linux's rules.
  std::int64_t take_over(double now, double began, double ended, double wire);
  /// Gives back the memory of what was under way. Precondition: the stream is idle.
  void release();
  /// No loss is known, and the oldest message has something to send: what follows can be a fluid.
  bool is_settled() const { return held_.number < 0 && tcp_.is_settled(); }
  /// Wire bytes that wait for the bottleneck.
  double queued(double now) const { return std::max(0.0, free_at() - now) * bottleneck_.rate(); }
  /// When the last of them has left it, s.
  double free_at() const {
    return bottleneck_.free_at() + (waits() ? turns_->wire / bottleneck_.rate() : 0);
  }
  /// Bytes, with those of copies.
  double wire_sent() const { return wire_sent_ + (turns_ ? turns_->wire : 0); }
  /// What became of segments: the queue dropped them, they were lost on the way, or arrived.
  std::int64_t dropped() const { return dropped_; }
  std::int64_t lost() const { return lost_; }
  std::int64_t arrived() const { return arrived_; }

 private:
  struct Segment {
    double came = 0;  ///< s
    std::int64_t number = Scoreboard::kNone;
    std::int32_t wire = 0;  ///< bytes
    std::int32_t sent = 0;  ///< time stamp
  };
  /// What befalls packets on their ways; most paths do nothing of it, and streams are many.
  struct Ways {
    LossSequence data_loss;
    LossSequence ack_loss;
    std::optional<WayBack> back;  ///< empty: nothing delays acknowledgements
  };
  /// Segments whose turn has not come yet, where the rate that they wait for changes.
  struct Turns {
    NumberedQueue<Segment> segments;
    double wire = 0;         ///< bytes
    std::int64_t bytes = 0;  ///< of payload
  };

  bool waits_back() const { return ways_ && ways_->back; }
  std::int64_t payload(const Segment& segment) const {
    return segment.wire - static_cast<std::int64_t>(tcp_.path().header);
  }
  void carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) override;
  void pass(const Segment& segment, std::int64_t waiting);
  std::int64_t to_come_again() const;
  void travel(const Segment& segment);
  bool waits() const { return turns_ && !turns_->segments.empty(); }
  double next_turn() const {
    return waits() ? bottleneck_.turn_of(turns_->segments.front().came) : kNever;
  }
  void take_turn();
  double decision() const { return held_.number < 0 ? kNever : bottleneck_.drop_time(); }
  void decide(double now, double behind);
  double next_ack() const;
  void take_ack(double now);

  TcpStream tcp_;
  std::unique_ptr<Ways> ways_;
  std::unique_ptr<Turns> turns_;  ///< null: what becomes of a segment is known when it is sent
  Bottleneck bottleneck_;
  Segment held_;             ///< that the queue drops if something comes behind it in time
  double last_arrival_ = 0;  ///< s
  double wire_sent_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t lost_ = 0;
  std::int64_t arrived_ = 0;
};

}  // namespace gradwire::sim
