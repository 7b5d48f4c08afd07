#pragma once
#include <cstdint>
#include <limits>

#include "sim/flow/tcp/numbered_queue.h"

/// The receiving end of a TCP stream: what has arrived, and the acknowledgements that it sends.
///
/// The receiver acknowledges every second segment that comes in order, or one after `delayed_ack`;
/// at once the connection's first segments, any out of order, one that fills a gap, and one that
/// came before. An acknowledgement tells all that has arrived (selective acknowledgements without
/// RFC 2018's limit of three blocks; of so many it is as long).
namespace gradwire::sim {

/// Bytes of an acknowledgement for a block that it names selectively.
inline constexpr double kBlockBytes = 8;

struct Acknowledgement {
  double time = 0;               ///< s: when the receiver sends it
  std::int32_t echo = 0;         ///< ticks: when the oldest segment that it acknowledges was sent
  std::uint32_t upto : 30 = 0;   ///< segments before this one have arrived (modulo 2^30)
  std::uint32_t blocks : 2 = 0;  ///< that it names selectively
};
static_assert(sizeof(Acknowledgement) == 16, "connections are many");

class TcpReceiver {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// How soon the receiver acknowledges.
  struct Quickness {
    double delayed_ack = 0;   ///< s
    int at_once = 1;          ///< so many first acknowledgements are not delayed
    double silence = kNever;  ///< s without a segment, after which `again` applies
    int again = 1;            ///< so many acknowledgements are not delayed again
    float block = 0;          ///< s that an acknowledgement takes more for each block it names
  };
  explicit TcpReceiver(const Quickness& quickness)
      : quickness_(quickness), quick_(quickness.at_once) {}

  /// From now on acknowledgements leave at once, whatever they name: who takes them has it that
  /// they are longer.
  void send_at_once() { quickness_.block = 0; }

  /// Segment `number` arrives at `time`, no earlier than any other before; `sent`: in ticks;
  /// `wanted`: its acknowledgement is not delayed. `count`: with so many in all that follow it.
  void arrive(std::int64_t number, double time, std::int32_t sent, bool wanted = false,
              int count = 1);
  bool has(std::int64_t number) const {
    const auto n = static_cast<std::uint64_t>(number);
    return number < next_ || (n < kept_.end() && kept_[n]);
  }
  /// Time at which the delayed acknowledgement goes off if nothing else arrives; infinite: none.
  double deadline() const { return waiting_ ? since_ + quickness_.delayed_ack : kNever; }
  /// The delayed acknowledgement goes off.
  void time_out();

  /// Calls move(time) for a segment that waits to be acknowledged.
  template <typename Move>
  void move(Move move) {
    if (waiting_) move(since_);
  }

  /// Segments before this one have arrived.
  std::int64_t next() const { return next_; }
  NumberedQueue<Acknowledgement>& acknowledgements() { return acks_; }
  const NumberedQueue<Acknowledgement>& acknowledgements() const { return acks_; }
  /// Segments that arrived out of order, in that order.
  struct OutOfOrder {
    std::int64_t segment = 0;
    std::uint64_t reported_by = 0;  ///< number of the first acknowledgement that tells of it
  };
  /// They come in runs: segments one after the other, each acknowledged at once.
  class OutOfOrderQueue {
   public:
    bool empty() const { return runs_.empty(); }
    OutOfOrder front() const { return runs_.front().first; }
    void push(const OutOfOrder& next);
    void pop();
    /// Calls visit() for each, oldest first, until it says false.
    template <typename Visit>
    void visit(Visit visit) const {
      for (std::uint64_t r = runs_.begin(); r != runs_.end(); ++r)
        for (std::uint32_t i = 0; i < runs_[r].count; ++i)
          if (!visit(runs_[r].at(i))) return;
    }

   private:
    struct Run {
      OutOfOrder first;
      std::uint32_t count = 1;
      OutOfOrder at(std::uint32_t i) const { return {first.segment + i, first.reported_by + i}; }
    };
    NumberedQueue<Run> runs_;
  };
  OutOfOrderQueue& out_of_order() { return out_of_order_; }
  /// Gives back memory that nothing is in.
  void release() {
    if (acks_.empty()) acks_.release();
    if (kept_.empty()) kept_.release();
  }

 private:
  void acknowledge(double time);
  void keep(std::int64_t number);
  void advance();

  Quickness quickness_;
  int quick_;  ///< acknowledgements that are not delayed
  std::int32_t echo_ = 0;
  double latest_ = kNever;  ///< s: the last arrival
  std::int64_t next_ = 0;
  std::int64_t reported_ = 0;         ///< what the last acknowledgement said
  NumberedQueue<std::uint8_t> kept_;  ///< [i]: segment i has arrived; from next_ on
  std::int32_t blocks_ = 0;           ///< runs of what is beyond next_
  bool waiting_ = false;              ///< one segment is not acknowledged
  double since_ = 0;
  NumberedQueue<Acknowledgement> acks_;
  OutOfOrderQueue out_of_order_;
};

}  // namespace gradwire::sim
