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

/// The largest of the values of the last `window` rounds, kept as three candidates of ever later
/// parts of the window (Nichols' filter, as Linux's lib/win_minmax.c describes it): one that is not
/// beaten is forgotten a window after it came.
class WindowedMax {
 public:
  /// The best is `start` until the first value.
  WindowedMax(std::uint32_t window, std::int64_t start)
      : window_(window), candidates_{{start, 0}, {start, 0}, {start, 0}} {}

  std::int64_t best() const { return candidates_[0].value; }
  /// `value` > 0; rounds never go back.
  void update(std::int64_t value, std::uint32_t round) {
    auto& [best, second, third] = candidates_;
    const Candidate fresh{value, round};
    if (!started_ || value >= best.value || age(third, round) > window_) {
      started_ = true;
      best = second = third = fresh;
      return;
    }
    if (value >= second.value) {
      second = third = fresh;
    } else if (value >= third.value) {
      third = fresh;
    }
    expire(fresh);
  }

 private:
  struct Candidate {
    std::int64_t value = 0;
    std::uint32_t round = 0;
  };

  std::uint32_t age(const Candidate& candidate, std::uint32_t round) const {
    return round - candidate.round;
  }
  /// The next ones move up; each later candidate is of a later part of the window.
  void expire(const Candidate& fresh) {
    auto& [best, second, third] = candidates_;
    if (age(best, fresh.round) > window_) {
      best = second;
      second = third;
      third = fresh;
      if (age(best, fresh.round) <= window_) return;
      best = second;
      second = third;
    } else if (second.value == best.value && age(second, fresh.round) > window_ / 4) {
      second = third = fresh;
    } else if (third.value == second.value && age(third, fresh.round) > window_ / 2) {
      third = fresh;
    }
  }

  std::uint32_t window_;
  bool started_ = false;
  Candidate candidates_[3];  ///< best first
};

}  // namespace gradwire::sim
