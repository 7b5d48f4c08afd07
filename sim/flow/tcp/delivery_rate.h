#pragma once
#include <cstdint>
#include <limits>

#include "sim/flow/tcp/numbered_queue.h"

/// How fast a connection's bytes are delivered, from one acknowledgement to the next
/// (draft-cheng-iccrg-delivery-rate-estimation-00, as ns-3 3.44 follows it).
///
/// A segment takes note, when it is sent, of how much had been delivered by then, and when. Once it
/// is delivered itself,
///     rate = delivered since / max(time since, time that sending took)
/// of the segment that knew of the most; of a time below the least round trip nothing is learnt.
/// In ns-3 3.44 a sample outlives its acknowledgement: where the next one brings no segment that
/// knows more, the times stay and the bytes grow.
namespace gradwire::sim {

/// What the last acknowledgement said; bytes are payload.
struct RateSample {
  std::int64_t rate = 0;             ///< bits/s; 0: none yet
  bool limited = false;              ///< by what there was to send, not by the network
  bool known = false;                ///< a segment's notes were at hand
  bool timed = false;                ///< ... and they are of the least round trip or more
  std::int64_t prior_delivered = 0;  ///< bytes delivered when the segment was sent
};

class DeliveryRate {
 public:
  /// Segment `number`, the next one or one that goes out again; `idle`: nothing else is in flight.
  void sent(double now, std::int64_t number, bool idle);
  /// Segment `number` of so many bytes is acknowledged, selectively or not; the second time counts
  /// nothing.
  void delivered(double now, std::int64_t number, std::int64_t bytes);
  /// Segments before this one are not asked for again.
  void forget_before(std::int64_t number);
  /// There is less than a segment to send while so many bytes are in flight.
  void limit(std::int64_t in_flight);
  /// After an acknowledgement's delivered() calls; `least_round_trip`: s.
  const RateSample& sample(double least_round_trip);

  std::int64_t total() const { return total_; }  ///< bytes delivered

 private:
  static constexpr double kDelivered = std::numeric_limits<double>::infinity();
  struct Notes {
    double sent = 0;
    double first_sent = 0;      ///< start of the sending interval
    double delivered_time = 0;  ///< kDelivered: it is delivered itself
    std::int64_t delivered = 0;
    bool limited = false;
  };

  NumberedQueue<Notes> notes_;
  std::int64_t total_ = 0;
  double delivered_time_ = 0;  ///< of the last delivery
  double first_sent_ = 0;
  std::int64_t limited_until_ = 0;  ///< samples are limited until so much is delivered; 0: not
  RateSample sample_;
  bool has_notes_ = false;  ///< of the sample, until a time is below the least round trip
  double ack_elapsed_ = 0;
  double send_elapsed_ = 0;
  std::int64_t recorded_ = 0;  ///< bytes of the last rate that was taken, and
  double recorded_time_ = 0;   ///< its time
};

}  // namespace gradwire::sim
