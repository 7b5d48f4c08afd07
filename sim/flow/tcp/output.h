#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "sim/flow/tcp/congestion.h"
#include "sim/flow/tcp/numbered_queue.h"
#include "sim/flow/tcp/scoreboard.h"
#include "sim/flow/tcp/stream_path.h"

namespace gradwire::sim {

/// The smoothed round trip of a connection and its retransmission timeout (RFC 6298, 2):
///     smoothed += (sample - smoothed) / 8,  deviation += (|sample - smoothed| - deviation) / 4
///     timeout = max(least, smoothed + max(1 ms, 4 deviation))    as ns-3 has it
///               smoothed + max(least, 4 deviation)               ... and Linux
class RoundTripEstimator {
 public:
  /// The first sample, s, on a path, which has the least timeout and the rules.
  void start(double round_trip, const StreamPath& path) {
    smoothed_ = round_trip;
    deviation_ = round_trip / 2;
    reset_timeout(path);
  }
  void measure(double sample, const StreamPath& path) {
    const double error = sample - smoothed_;
    smoothed_ += error / 8;
    deviation_ += (std::abs(error) - deviation_) / 4;
    reset_timeout(path);
  }
  void set_smoothed(double round_trip) { smoothed_ = round_trip; }
  /// A timeout has gone off: the next one comes later.
  void back_off(double largest) {
    timeout_ = std::min(2 * timeout_, largest);
    ++timeouts_;
  }
  void reset_timeout(const StreamPath& path) {
    timeout_ = path.has_stamps ? std::max(smoothed_ + std::max(0.001, 4 * deviation_), path.min_rto)
                               : smoothed_ + std::max(path.min_rto, 4 * deviation_);
  }

  double smoothed() const { return smoothed_; }
  double timeout() const { return timeout_; }
  std::int64_t timeouts() const { return timeouts_; }  ///< that have gone off

 private:
  double smoothed_ = 0;
  double deviation_ = 0;
  double timeout_ = 0;
  std::int64_t timeouts_ = 0;
};

/// The messages that were written to a stream and not taken from it: whose bytes are whose, what
/// each has cost, and which have arrived.
class StreamMessages {
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

  std::int64_t written() const { return written_; }  ///< bytes of the stream
  void write(std::uint64_t id, std::int64_t bytes) {
    written_ += bytes;
    queue_.push({id, written_, kNever, 0, 0});
  }
  /// Bytes that belong to no message of its own.
  void skip(std::int64_t bytes) { written_ += bytes; }
  /// Drops what is left of the message behind the stream's byte `kept`; `sent` bytes have gone out.
  void cancel(std::uint64_t id, std::int64_t sent, std::int64_t kept) {
    std::int64_t removed = 0;
    std::int64_t begin = std::min(sent, queue_.empty() ? 0 : queue_.front().end);
    for (std::uint64_t m = queue_.begin(); m != queue_.end(); ++m) {
      Message& message = queue_[m];
      const std::int64_t end = message.end;
      if (message.id == id && removed == 0)
        removed = std::max<std::int64_t>(0, end - std::max(begin, kept));
      message.end -= removed;
      begin = end;
    }
    written_ -= removed;
  }
  /// So many wire bytes go out, the last one of which is the stream's byte `sent`; again: the
  /// oldest message that has not arrived pays for it, if any.
  void charge(double wire, bool again, std::int64_t sent) {
    if (queue_.empty()) return;
    std::uint64_t m = std::max(again ? arrived_ : sending_, queue_.begin());
    if (m == queue_.end()) return;
    while (!again && m + 1 != queue_.end() && queue_[m].end < sent) ++m;
    queue_[m].wire += static_cast<std::int64_t>(wire);
    queue_[m].retransmissions += again ? 1 : 0;
    if (!again) sending_ = m;
  }
  /// So many bytes of the stream have arrived in order at `time`.
  void arrive(std::int64_t received, double time) {
    arrived_ = std::max(arrived_, queue_.begin());
    while (arrived_ != queue_.end() && queue_[arrived_].end <= received)
      queue_[arrived_++].arrival = time;
  }
  /// Calls move(arrival) for those of which it is known.
  template <typename Move>
  void move(Move move) {
    for (std::uint64_t i = queue_.begin(); i < arrived_; ++i) move(queue_[i].arrival);
  }

  bool empty() const { return queue_.empty(); }
  const Message& front() const { return queue_.front(); }
  void pop() { queue_.pop(); }
  /// When the oldest one arrives, s; infinite: there is none, or that is not known yet.
  double first_arrival() const { return queue_.empty() ? kNever : queue_.front().arrival; }
  /// Gives back memory. Precondition: it is empty.
  void release() { queue_.release(); }

 private:
  NumberedQueue<Message> queue_;
  std::int64_t written_ = 0;
  std::uint64_t arrived_ = 0;  ///< number of the first one that has not arrived
  std::uint64_t sending_ = 0;  ///< number of the first one that is not wholly sent
};

/// Takes segments to the receiver of a stream (TcpStream::arrive()), and what that acknowledges
/// back (acknowledge()).
class SegmentCarrier {
 public:
  virtual ~SegmentCarrier() = default;
  /// Segment `number`, of so many bytes on the wire, goes out at `now`; `sent`: its time stamp.
  virtual void carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) = 0;
};

/// What a sender has written, sent, and not had acknowledged, whichever rules say when something
/// goes out (ns3_sender.h, linux_sender.h): its windows, its scoreboard, its retransmission timer.
class TcpOutput {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  TcpOutput(std::shared_ptr<const StreamPath> path, const TransportSettings& transport);

  const StreamPath& path() const { return *path_; }
  const TcpConstants& constants() const { return congestion_.constants(); }
  CongestionWindow& congestion() { return congestion_; }
  const CongestionWindow& congestion() const { return congestion_; }
  Scoreboard& board() { return board_; }
  const Scoreboard& board() const { return board_; }
  StreamMessages& messages() { return messages_; }
  const StreamMessages& messages() const { return messages_; }
  RoundTripEstimator& round_trip() { return round_trip_; }
  const RoundTripEstimator& round_trip() const { return round_trip_; }

  void set_carrier(SegmentCarrier& carrier) { carrier_ = &carrier; }
  /// The receiver has acknowledged something of the connection: its whole buffer is open.
  void know_offer() { offered_ = std::numeric_limits<std::int64_t>::max(); }
  /// Starts with this window, bytes, and this smoothed round trip, s.
  void resume(std::int64_t window, double smoothed) {
    congestion_.set_size(window);
    round_trip_.set_smoothed(smoothed);
    know_offer();
  }

  std::int64_t sent() const { return sent_; }  ///< bytes of the stream
  std::int64_t unsent() const { return messages_.written() - sent_; }
  /// Whole segments of so many bytes.
  std::int64_t segments_in(std::int64_t bytes) const {
    return (bytes + path_->segment - 1) / path_->segment;
  }
  /// Bytes that windows let out.
  std::int64_t space() const {
    const std::int64_t window = std::min({congestion_.size(), path_->buffer, offered_});
    return std::max<std::int64_t>(0, window - board_.in_flight());
  }
  /// Whether new data may go out into so much space: a full segment, or the last one.
  bool may_send_new(std::int64_t space) const {
    return space >= std::min(path_->segment, unsent()) && board_.outstanding() < path_->buffer;
  }
  /// The next segment, full if there is so much. Returns its number.
  std::int64_t send_new(double now);
  /// Segment `number` once more, up to `most` bytes of it and of the next ones (JoinedCopies); 0:
  /// it alone.
  std::int64_t send_again(double now, std::int64_t number, std::int64_t most = 0);
  /// A segment that has gone out beside the stream.
  void take_over(double now, std::int64_t bytes) {
    board_.push(bytes);
    messages_.skip(bytes);
    sent_ += bytes;
    if (timer_ == kNever) restart_timer(now);
  }

  /// The segment that `low` are the lowest bits of: none older than the board's first is told.
  std::int64_t whole(std::uint32_t low) const {
    // Of 30 bits, with the sign of the highest one.
    const std::uint32_t apart = (low - static_cast<std::uint32_t>(board_.first())) << 2;
    return board_.first() + static_cast<std::int32_t>(apart) / 4;
  }
  /// All before segment `upto` is about to be acknowledged.
  void part_copies(std::int64_t upto) {
    if (joined_) joined_->part(board_, upto);
  }
  /// How many segments arrive with this one, of so many wire bytes.
  int segments_with(std::int64_t number, std::int32_t wire) {
    const auto bytes = wire - static_cast<std::int64_t>(path_->header);
    return joined_ ? joined_->arrive(board_, number, bytes) : 1;
  }
  /// Bytes of the segment when it went out first.
  std::int64_t original(std::int64_t number) const {
    return joined_ ? joined_->original(board_, number) : board_.at(number).bytes;
  }

  double timer() const { return timer_; }  ///< s: when it goes off
  void set_timer(double time) { timer_ = time; }
  /// A timeout's time from `now`, where something is out.
  void restart_timer(double now) { timer_ = board_.empty() ? kNever : now + round_trip_.timeout(); }

  std::int64_t segments() const { return board_.end(); }  ///< that went out
  std::int64_t copies() const { return copies_; }         ///< ... once more

 private:
  void emit(double now, std::int64_t number);

  std::shared_ptr<const StreamPath> path_;
  SegmentCarrier* carrier_ = nullptr;
  std::int64_t offered_;  ///< bytes that the receiver is known to take
  CongestionWindow congestion_;
  Scoreboard board_;
  double timer_ = kNever;
  RoundTripEstimator round_trip_;
  StreamMessages messages_;
  std::int64_t sent_ = 0;
  std::int64_t copies_ = 0;
  std::unique_ptr<JoinedCopies> joined_;  ///< null: all went out as they did first
};

}  // namespace gradwire::sim
