#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sim/flow/tcp/bottleneck.h"
#include "sim/flow/tcp/congestion.h"
#include "sim/flow/tcp/joined_copies.h"
#include "sim/flow/tcp/kernel_sender.h"
#include "sim/flow/tcp/loss_sequence.h"
#include "sim/flow/tcp/paced_sender.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/flow/tcp/scoreboard.h"
#include "sim/flow/tcp/way_back.h"
#include "sim/flow/tcp_path.h"

/// One TCP connection, segment by segment: sender, bottleneck queue, receiver, acknowledgements.
///
/// Where windows, losses and timeouts decide how long a transfer takes, `flow` runs this instead of
/// a fluid. A stream needs no event for a packet: with its share of the bottleneck known, the fate
/// of a segment (its departure, whether it is lost, its arrival, the acknowledgement it causes)
/// follows as soon as it is sent. Events are acknowledgements that reach the sender, its timeout,
/// and deliveries.
///
/// Rules (ns-3 3.44's, which follow Linux's):
///   sending     while in flight < min(window, buffer): a lost segment first, then new data
///   entering recovery  at the third duplicate acknowledgement or the third sacked segment beyond;
///               proportional rate reduction (RFC 6937) paces it until all that was sent is
///               acknowledged; then the window is the threshold
///   before the first acknowledgement of a connection  TcpConstants::first_offer at most
///   timeout     smoothed round trip + max(tick, 4 deviations), at least min_rto, doubled each
///               time up to 60 s; all is lost that was not sacked; slow start from one segment
///   round trips are measured in whole ticks of 1 ms (RFC 7323's time stamps); below one: 1 us
/// docs/network.md has the constants. A calibration may ask for Linux's own rules instead
/// (TcpConstants::kernel_recovery, kernel_sender.h).
///
/// Acknowledgements take the way back (way_back.h). Where packets are followed over all of both
/// ways (SegmentCarrier), the stream is a sender and a receiver alone.
///
/// Where it breaks down: one bottleneck a path, without a limit of its own;
/// acknowledgements never wait behind data; segments that wait are served at the new share as soon
/// as it changes, whatever others have queued.
namespace gradwire::sim {

/// What the streams of one path share.
struct StreamPath : TcpPath {
  /// `clock`: s, at the time 0; negative: where the path's own handshake leaves it.
  StreamPath(const TcpPath& path, const TransportSettings& transport, double clock = -1);

  Bottleneck::Discipline discipline;
  double header;           ///< bytes
  std::int64_t segment;    ///< bytes of payload
  double arrival;          ///< s, until a segment has arrived
  double ack_arrival;      ///< s
  double handshake = 0;    ///< s: a round trip of it
  double clock_ahead = 0;  ///< s: of time stamps
  double following = 0;    ///< s, of what follows a packet on its links and it does not wait for
  double felt_below = 0;   ///< wire bytes: of a shorter message that is a hundredth of its time

 private:
  void shake_hands(bool paced);
};

/// Takes segments to the receiver of a stream.
class SegmentCarrier {
 public:
  virtual ~SegmentCarrier() = default;
  /// Segment `number`, of so many bytes on the wire, goes out at `now`; `sent`: in ticks.
  virtual void carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) = 0;
};

class TcpStream {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// A message that has arrived, or has been given up.
  struct Message {
    std::uint64_t id = 0;
    std::int64_t end = 0;  ///< bytes of the stream
    double arrival = kNever;
    std::int64_t wire = 0;  ///< bytes, with headers and all that was sent again
    std::int64_t retransmissions = 0;
  };

  /// What became of segments. first + again = dropped + lost + arrived + duplicate, where those
  /// that are on their way count as arrived: their fate is known.
  struct Counts {
    std::int64_t first = 0;
    std::int64_t again = 0;    ///< sent once more
    std::int64_t dropped = 0;  ///< by the queue
    std::int64_t lost = 0;     ///< on the way
    std::int64_t arrived = 0;
    std::int64_t duplicate = 0;  ///< arrived, but had before
  };

  /// `data`, `acks`: which segments and which acknowledgements are lost. Streams may share a path.
  TcpStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
            LossSequence data, LossSequence acks);
  TcpStream(const TcpPath& path, const TransportSettings& transport, LossSequence data,
            LossSequence acks)
      : TcpStream(std::make_shared<const StreamPath>(path, transport), transport, std::move(data),
                  std::move(acks)) {}

  /// Appends a message at `now` and sends what the window allows; `more`: another one comes at the
  /// same instant, with which this one is sent (but by Linux's rules).
  void write(double now, std::uint64_t id, std::int64_t bytes, bool more = false);
  /// The part of the message that is not sent yet is dropped, but for what is in the socket.
  void cancel(double now, std::uint64_t id);
  /// Acknowledgements wait before a link that carries nothing, behind which they take `behind`
  /// more, s; negative: they wait for none.
  void hold_acks(double now, double behind);
  /// A segment of another connection comes to the sender at `time` over the link on which the
  /// acknowledgements come, and takes that for so long, s: one that would come meanwhile comes
  /// behind it.
  void meet(double time, double takes) {
    met_ = time + path_->last_ack_time;
    met_since_ = met_ - takes;
  }
  /// From now on `carrier`, which outlives the stream, takes its segments to arrive(), and
  /// acknowledgements of its receiver to acknowledge(). Call before anything is written.
  void carry_by(SegmentCarrier& carrier) {
    carrier_ = &carrier;
    receiver_.send_at_once();
  }
  /// A segment that was carried is there.
  void arrive(double now, std::int64_t number, std::int32_t wire, std::int32_t sent);
  /// Acknowledgements that the receiver has sent: the numbers from 0 to this one.
  std::uint64_t acknowledgements() const { return receiver_.acknowledgements().end(); }
  /// Bytes of acknowledgement `number`, which has not reached the sender, on the wire.
  std::int32_t ack_wire(std::uint64_t number) const;
  /// s: when the receiver acknowledges what waits for a second segment; infinite: nothing does.
  double ack_deadline() const { return receiver_.deadline(); }
  void send_delayed_ack() { receiver_.time_out(); }
  /// Acknowledgement `number` reaches the sender; those before it that have not are lost.
  void acknowledge(double now, std::uint64_t number);
  /// When the oldest message arrives, s; infinite: there is none, or that is not known yet.
  double first_arrival() const { return messages_.empty() ? kNever : messages_.front().arrival; }
  /// Sets the draws of BBR. Call before anything is written.
  void set_phases(const StreamNumbers& draws) {
    if (paced_) paced_->bbr.set_draws(draws);
  }
  /// The handshake's first packet went out and its answer came then, s. Call before anything is
  /// written, and set_phases() after it.
  void note_handshake(double sent, double answered);
  /// Starts with this window and this smoothed round trip, s. Call before anything is written.
  void resume(const CongestionWindow& congestion, double smoothed) {
    congestion_ = congestion;
    congestion_.restart_numbers();
    smoothed_ = smoothed;
    know_offer();
  }
  /// The receiver has acknowledged something of the connection: its whole buffer is open.
  void know_offer() { offered_ = std::numeric_limits<std::int64_t>::max(); }
  const CongestionWindow& congestion() const { return congestion_; }
  /// Bytes a second that the bottleneck serves from now on.
  void serve(double now, double rate);

  double next_event() const;
  /// Everything that happens until `now`, in order; until `ahead` while there is more to send: then
  /// a message written meanwhile changes nothing.
  void run(double now, double ahead = 0);
  /// Messages that have arrived by `now`, oldest first.
  bool delivered(double now) const {
    return !messages_.empty() && messages_.front().arrival <= now;
  }
  const Message& front() const { return messages_.front(); }
  void pop() { messages_.pop(); }

  /// Nothing is unacknowledged, nothing waits, and all messages are taken (pop()): who runs ahead
  /// sees the last acknowledgement before the message that it is for.
  bool idle() const { return board_.empty() && unsent() == 0 && messages_.empty(); }
  /// Bytes a second that the stream would send if the bottleneck were free.
  double demand() const;
  /// demand() after silence until `now`.
  double demand_at(double now) const;
  /// A connection that has been silent since `last_sent`, s: Linux's rules only, and while it
  /// rests.
  void resume_after(double last_sent);
  /// Something of the connection's goes out beside the stream until `time`.
  void touch(double time) {
    if (kernel_) kernel_->last_sent = std::max(kernel_->last_sent, time);
  }
  /// Takes over a burst of so many wire bytes that the connection sent beside the stream, and that
  /// left the bottleneck evenly from `began` to `ended`, s: of it all counts as in flight that is
  /// not acknowledged at `now`. Segments are full but for its last one. Returns their number.
  /// Between messages; paths that lose nothing, not by Linux's rules.
  std::int64_t take_over(double now, double began, double ended, double wire);
  /// Whether release() is worth its while.
  bool is_large() const { return receiver_.acknowledgements().capacity() >= kLarge; }
  /// Gives back the memory of what was under way. Precondition: idle().
  void release();
  /// All messages have arrived and no loss is known: only acknowledgements are under way.
  bool is_quiet() const;
  /// No loss is known, and the oldest message has something to send: what follows can be a fluid.
  bool is_settled() const;
  /// Wire bytes sent and not acknowledged.
  double in_flight() const {
    return static_cast<double>(board_.in_flight()) *
           (1 + path_->header / static_cast<double>(path_->segment));
  }
  /// Segments of the oldest message that are not sent, and their wire bytes.
  double unsent_segments() const;
  double unsent_wire() const;
  /// Wire bytes that wait for the bottleneck.
  double queued(double now) const;
  // tcp/bottleneck.h
  void set_ahead(double seconds) { bottleneck_.set_ahead(seconds); }
  void set_line(double rate) { bottleneck_.set_line(rate); }
  void note_dropped() { ++counts_.dropped; }
  double round_left(double now) const { return bottleneck_.round_left(now); }
  /// When the last of them has left it, s.
  double free_at() const {
    return bottleneck_.free_at() + (queues() ? turns_->wire / bottleneck_.rate() : 0);
  }
  bool waits_too_long() const { return bottleneck_.waits_too_long(); }  ///< tcp/codel.h
  /// Bytes, with those of copies.
  double wire_sent() const { return wire_sent_ + (turns_ ? turns_->wire : 0); }
  double acks_sent() const;  ///< acknowledgements
  double window() const { return static_cast<double>(congestion_.size()); }
  std::int64_t timeouts() const { return timeouts_; }
  const Counts& counts() const { return counts_; }

 private:
  static constexpr std::size_t kLarge = 20;  ///< acknowledgements that were under way at a time
  enum class State : std::uint8_t { kOpen, kDisorder, kRecovery, kLoss };
  /// What befalls packets on their ways; most paths do nothing of it, and streams are many.
  struct Ways {
    std::unique_ptr<LossSequence> data_loss;  ///< null: nothing is lost
    std::unique_ptr<LossSequence> ack_loss;
    std::unique_ptr<WayBack> back;  ///< null: nothing delays acknowledgements
  };
  Ways& ways() {
    if (!ways_) ways_ = std::make_unique<Ways>();
    return *ways_;
  }

  /// Segments whose turn has not come yet, where the rate that they wait for changes.
  struct Turns {
    struct Segment {
      double came = 0;  ///< s
      std::int64_t number = 0;
      std::int32_t bytes = 0;
      std::int32_t sent = 0;  ///< ticks
    };
    NumberedQueue<Segment> segments;
    double wire = 0;         ///< bytes
    std::int64_t bytes = 0;  ///< of payload
  };

  std::int64_t unsent() const { return written_ - sent_; }
  std::int64_t space() const;
  void send_written(double now);
  void send_pending(double now);
  bool send_next(double now, std::int64_t space);
  void send_new(double now, std::int64_t bytes);
  void send_again(double now, std::int64_t number, std::int64_t most = 0);
  bool exceeds(std::int64_t number, std::int64_t space) const;
  int segments_with(std::int64_t number, double wire);
  void emit(double now, std::int64_t number);
  void refuse(std::int64_t number, std::int64_t bytes, std::int32_t sent, std::int64_t waiting);
  bool queues() const { return turns_ && !turns_->segments.empty(); }
  double next_turn() const {
    return queues() ? bottleneck_.turn_of(turns_->segments.front().came) : kNever;
  }
  void take_turn();
  void decide(double now, double behind);
  std::int64_t to_come_again() const;
  void travel(std::int64_t number, double wire, std::int32_t sent);
  void take_in(std::int64_t number, double wire, std::int32_t sent);
  double next_ack() const;
  double decision() const { return held_ < 0 ? kNever : bottleneck_.drop_time(); }
  double demand_of(std::int64_t size) const;
  std::int32_t tick_of(double time) const;
  double sample_of(std::int32_t sent, std::int32_t now) const;
  void charge(double wire, bool again);
  void note_arrival(double time);

  std::int64_t whole(std::uint32_t low) const;
  /// The receiver's oldest acknowledgement reaches the sender, unless it is lost.
  void take_ack(double now) {
    auto& acks = receiver_.acknowledgements();
    const Acknowledgement next = acks.front();
    const std::uint64_t number = acks.begin();
    acks.pop();
    if (ways_ && ways_->back) ways_->back->arrived(now);
    if (!ways_ || !ways_->ack_loss || !ways_->ack_loss->next()) on_ack(now, next, number);
  }
  void on_ack(double now, const Acknowledgement& ack, std::uint64_t number);
  void measure(double now, const Acknowledgement& ack);
  std::int64_t learn_sacks(std::uint64_t ack_number, std::int64_t upto);
  void process(double now, std::int64_t upto, std::int64_t old, bool duplicate,
               std::int64_t delivered, bool resent_arrived, std::int64_t beyond);
  std::int64_t segments_beyond_loss(std::int64_t upto) const;
  std::int64_t whole_segments(std::int64_t bytes);
  void on_duplicate(double now, std::int64_t delivered);
  void enter_recovery(double now, std::int64_t delivered);
  void reduce_rate(std::int64_t delivered, bool duplicate, bool resent_arrived);
  void on_partial(double now, std::int64_t segments, std::int64_t delivered, bool resent_arrived);
  void on_whole(double now, std::int64_t upto, std::int64_t segments, std::int64_t beyond,
                std::int64_t duplicates, bool duplicate);
  double measured_rto() const;
  void restart_timer(double now);
  void time_out(double now);

  // stream_paced.cc
  void start_pacing();
  void run_paced(double now);
  bool is_pace_first(double ack) const;
  void send_paced(double now);
  void note_paced(double now, std::int64_t number);
  void note_written();
  void note_timeout();
  void note_delivered_now(double now, std::uint64_t ack_number, std::int64_t upto);
  void on_paced_ack(double now, const Acknowledgement& ack, std::uint64_t number);
  void update_model(double now, std::int64_t lost, std::int64_t in_flight, std::int64_t delivered);

  // kernel_stream.cc
  std::int64_t segments_in(std::int64_t bytes) const;
  bool is_pushed(std::int64_t number);
  void note_sent(double now, std::int64_t number);
  void note_delivered(double now, std::int64_t number);
  void measure_kernel();
  double kernel_rto() const;
  double reorder_window() const;
  bool find_late(double now);
  bool is_known(const KernelSender::Transmission& transmission) const;
  void on_kernel_ack(double now, const Acknowledgement& ack, std::uint64_t number);
  void end_recovery(double now);
  void grow_kernel(double now, std::int64_t delivered, std::int64_t upto);
  std::int64_t learn_kernel(double now, std::uint64_t ack_number, std::int64_t upto);
  void recover_kernel();
  void reduce_kernel(std::int64_t delivered, bool progress);
  void note_use(bool limited);
  bool is_filled() const;
  void shrink_unused(double now);
  void arm_kernel(double now);
  void send_kernel(double now);

  // kernel_timers.cc
  void on_kernel_timer(double now);
  void probe(double now);
  void end_probe(std::int64_t upto);
  void time_out_kernel(double now);
  void mark_timed_out(double now);

  // kernel_idle.cc
  void restart_after_idle(double now);
  std::int64_t window_after_idle(double now) const;

  // kernel_bundles.cc
  bool send_bundles(double now);
  std::int64_t largest_bundle() const;
  bool defers(double now, std::int64_t room) const;

  const TcpConstants& constants() const { return congestion_.constants(); }

  std::shared_ptr<const StreamPath> path_;
  std::int64_t offered_;        ///< bytes that the receiver is known to take
  std::unique_ptr<Ways> ways_;  ///< null: all of them are

  Bottleneck bottleneck_;
  CongestionWindow congestion_;
  Scoreboard board_;
  // What run() looks at each time lies together: most calls find nothing to do.
  TcpReceiver receiver_;
  double timer_ = kNever;
  double met_ = -kNever;  ///< s: acknowledgements that would come since met_since_ come then
  double met_since_ = -kNever;
  /// A segment that the queue drops if something comes behind it in time.
  std::int64_t held_ = Scoreboard::kNone;
  std::int64_t written_ = 0;  ///< bytes of the stream
  std::int64_t sent_ = 0;
  NumberedQueue<Message> messages_;
  std::int32_t held_bytes_ = 0;
  std::int32_t held_sent_ = 0;          ///< ticks
  std::uint64_t arrived_ = 0;           ///< number of the first message that has not arrived
  std::uint64_t sending_ = 0;           ///< number of the first message that is not wholly sent
  std::int64_t received_segments_ = 0;  ///< in order
  std::int64_t received_ = 0;           ///< bytes in order
  double last_arrival_ = 0;
  double wire_sent_ = 0;
  std::unique_ptr<Turns> turns_;  ///< null: what becomes of a segment is known when it is sent
  std::unique_ptr<JoinedCopies> joined_;  ///< null: all went out as they did first
  SegmentCarrier* carrier_ = nullptr;
  std::int64_t acked_ = 0;

  State state_ = State::kOpen;
  bool recovering_ = false;
  bool first_partial_ = true;
  int duplicates_ = 0;
  std::int64_t recover_ = 0;    ///< segment: all before it was sent when the last loss was seen
  std::int64_t remainder_ = 0;  ///< acknowledged bytes that make no whole segment yet
  std::int64_t reduced_flight_ = 0;     ///< bytes, proportional rate reduction's RecoverFS
  std::int64_t reduced_delivered_ = 0;  ///< prr_delivered
  std::int64_t reduced_out_ = 0;        ///< prr_out

  double smoothed_;  ///< s
  double deviation_;
  double rto_;
  std::int64_t measured_from_ = 0;  ///< segments before it give no sample (a timeout's)
  std::int64_t timeouts_ = 0;
  std::unique_ptr<KernelSender> kernel_;  ///< where these rules are followed
  std::unique_ptr<PacedSender> paced_;    ///< of BBR
  Counts counts_;
};

}  // namespace gradwire::sim
