#pragma once
#include <cstdint>
#include <limits>
#include <memory>

#include "sim/flow/tcp/linux_sender.h"
#include "sim/flow/tcp/ns3_sender.h"
#include "sim/flow/tcp/output.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/flow/tcp/stream_path.h"

/// One TCP connection, segment by segment: a sender and a receiver. What takes segments and
/// acknowledgements from one to the other stands beside it (SegmentCarrier): the bottleneck of a
/// fluid network (fluid/fluid_stream.h), or links and queues packet by packet (per_packet/).
///
/// Rules (ns-3 3.44's, which follow Linux's; ns3_sender.h):
///   sending     while in flight < min(window, buffer): a lost segment first, then new data
///   entering recovery  at the third duplicate acknowledgement or the third sacked segment beyond;
///               proportional rate reduction (RFC 6937) paces it until all that was sent is
///               acknowledged; then the window is the threshold
///   before the first acknowledgement of a connection  TcpConstants::first_offer at most
///   timeout     smoothed round trip + max(tick, 4 deviations), at least min_rto, doubled each
///               time up to 60 s; all is lost that was not sacked; slow start from one segment
///   round trips are measured in whole ticks of 1 ms (RFC 7323's time stamps); below one: 1 us
/// docs/models/tcp.md has the constants. A calibration may ask for Linux's own rules instead
/// (TcpConstants::kernel_recovery, linux_sender.h).
namespace gradwire::sim {

class TcpStream {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  using Message = StreamMessages::Message;

  /// Streams may share a path. `carrier`, which outlives the stream, carries its segments.
  TcpStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
            SegmentCarrier* carrier = nullptr);

  /// From now on `carrier` carries its segments, and acknowledgements as long as they are. Call
  /// before anything is written.
  void carry_by(SegmentCarrier& carrier) {
    out_.set_carrier(carrier);
    receiver_.send_at_once();
  }
  /// Sets the draws of BBR. Call before anything is written.
  void set_phases(const StreamNumbers& draws) { ns3_.set_phases(draws); }
  /// The handshake's first packet went out and its answer came then, s. Call before anything is
  /// written, and set_phases() after it.
  void note_handshake(double sent, double answered);
  /// Starts with this window, bytes, and this smoothed round trip, s. Call before anything is
  /// written.
  void resume(std::int64_t window, double smoothed) { out_.resume(window, smoothed); }
  /// The receiver has acknowledged something of the connection: its whole buffer is open.
  void know_offer() { out_.know_offer(); }
  /// A connection that has been silent since `last_sent`, s: Linux's rules only, and while it
  /// rests.
  void resume_after(double last_sent) { linux_->resume_after(last_sent); }
  /// Something of the connection's goes out beside the stream until `time`.
  void touch(double time) {
    if (linux_) linux_->touch(time);
  }

  /// Appends a message at `now` and sends what the window allows; `more`: another one comes at the
  /// same instant, with which this one is sent (but by Linux's rules).
  void write(double now, std::uint64_t id, std::int64_t bytes, bool more = false);
  /// The part of the message that is not sent yet is dropped, but for what is in the socket.
  void cancel(double now, std::uint64_t id);
  /// A segment is there, or is known to be at that time, s.
  void arrive(double time, std::int64_t number, std::int32_t wire, std::int32_t sent);
  /// A segment of no message, which the connection sent beside the stream, arrives at `arrival`, s,
  /// and is not acknowledged at `now`.
  void take_over(double now, std::int64_t bytes, std::int32_t sent, double arrival);
  /// Acknowledgements that the receiver has sent: the numbers from 0 to this one.
  std::uint64_t acknowledgements() const { return receiver_.acknowledgements().end(); }
  /// Bytes of acknowledgement `number`, which has not reached the sender, on the wire.
  std::int32_t ack_wire(std::uint64_t number) const {
    const double blocks = linux_ ? 0 : kBlockBytes * receiver_.acknowledgements()[number].blocks;
    return static_cast<std::int32_t>(path().header + blocks);
  }
  /// s: when the receiver acknowledges what waits for a second segment; infinite: nothing does.
  double ack_deadline() const { return receiver_.deadline(); }
  void send_delayed_ack() { receiver_.time_out(); }
  /// Acknowledgement `number` reaches the sender; those before it that have not are lost.
  void acknowledge(double now, std::uint64_t number);
  /// s: when the first timer goes off.
  double next_event() const { return std::min(out_.timer(), ns3_.pace()); }
  /// The first timer goes off, unless an acknowledgement that comes at `ack` is before it: false.
  bool run_timer(double ack);
  /// All timers until `now`.
  void run(double now) {
    while (next_event() <= now) run_timer(kNever);
  }
  /// Calls move() for all times, s, at which something is known to arrive.
  template <typename Move>
  void move(Move move) {
    NumberedQueue<Acknowledgement>& acks = receiver_.acknowledgements();
    for (std::uint64_t i = acks.begin(); i != acks.end(); ++i) move(acks[i].time);
    out_.messages().move(move);
    receiver_.move(move);
  }

  /// When the oldest message arrives, s; infinite: there is none, or that is not known yet.
  double first_arrival() const { return out_.messages().first_arrival(); }
  /// Messages that have arrived by `now`, oldest first.
  bool delivered(double now) const { return first_arrival() <= now; }
  const Message& front() const { return out_.messages().front(); }
  void pop() { out_.messages().pop(); }

  /// Nothing is unacknowledged, nothing waits, and all messages are taken (pop()): who runs ahead
  /// sees the last acknowledgement before the message that it is for.
  bool idle() const { return out_.board().empty() && unsent() == 0 && out_.messages().empty(); }
  /// All messages have arrived and no loss is known: only acknowledgements are under way.
  bool is_quiet() const { return is_open() && out_.messages().empty() && unsent() == 0; }
  /// No loss is known, and the oldest message has something to send: what follows can be a fluid.
  bool is_settled() const {
    return is_open() && !out_.messages().empty() && front().end > out_.sent();
  }
  /// Whether release() is worth its while.
  bool is_large() const { return receiver_.acknowledgements().capacity() >= kLarge; }
  /// Gives back the memory of what was under way. Precondition: idle().
  void release() {
    out_.board().release();
    receiver_.release();
    out_.messages().release();
  }

  /// Bytes a second that the stream would send if the bottleneck were free.
  double demand() const { return demand_of(out_.congestion().size()); }
  /// demand() after silence until `now`.
  double demand_at(double now) const {
    return linux_ ? demand_of(linux_->window_after_idle(out_, now)) : demand();
  }
  /// Wire bytes sent and not acknowledged.
  double in_flight() const {
    return static_cast<double>(out_.board().in_flight()) *
           (1 + path().header / static_cast<double>(path().segment));
  }
  std::int64_t unsent() const { return out_.unsent(); }  ///< bytes
  /// Segments of the oldest message that are not sent, and their wire bytes.
  double unsent_segments() const {
    return static_cast<double>(out_.segments_in(front().end - out_.sent()));
  }
  double unsent_wire() const {
    return static_cast<double>(front().end - out_.sent()) + unsent_segments() * path().header;
  }
  const StreamPath& path() const { return out_.path(); }
  const CongestionWindow& congestion() const { return out_.congestion(); }
  TcpReceiver& receiver() { return receiver_; }
  const TcpReceiver& receiver() const { return receiver_; }
  const TcpOutput& output() const { return out_; }

 private:
  static constexpr std::size_t kLarge = 20;  ///< acknowledgements that were under way at a time

  bool is_open() const { return linux_ ? linux_->is_open() : ns3_.is_open(); }
  double demand_of(std::int64_t size) const {
    const double window = static_cast<double>(std::min(size, path().buffer));
    return window * (1 + path().header / static_cast<double>(path().segment)) / path().round_trip;
  }
  void note_arrival(std::int64_t before, double time);

  TcpOutput out_;
  TcpReceiver receiver_;
  std::int64_t received_ = 0;  ///< bytes in order
  Ns3Sender ns3_;
  std::unique_ptr<LinuxSender> linux_;  ///< where its rules are followed
};

}  // namespace gradwire::sim
