#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/cluster/link.h"

namespace gradwire::sim {

/// When frames get through one direction of a link, exactly: the rate is constant from piece to
/// piece and zero during outages; a frame that is under way when it falls to zero waits and goes
/// on. On a Mahimahi trace 1,500 bytes of IP packets pass at each of its instants; a packet that
/// needs more goes on at the next one, what a packet leaves of an instant is the next packet's if
/// that is there, and instants at which nothing waits are lost (Netravali et al., 2015).
///
/// Times are nanoseconds of the session's clock. Does not refer to the link after construction.
class ChannelClock {
 public:
  ChannelClock(const LinkSpec& spec, const RateSchedulePtr& schedule);

  /// When a frame is through that could begin at `start`. Call in the order of transmission, with
  /// `start` not before the last one's end. `frame`: bytes on the link; `packet`: those of the IP
  /// packet in it, which are what a trace counts.
  std::int64_t end_of(std::int64_t start, Bytes frame, Bytes packet);

  /// Farther than any run goes, and safe to add to.
  static constexpr std::int64_t kNever = std::int64_t{1} << 61;

 private:
  struct Interval {
    double begin = 0;
    double end = 0;
  };
  std::int64_t end_by_rate(std::int64_t start, Bytes frame) const;
  std::int64_t end_by_trace(std::int64_t start, Bytes packet);
  double rate_at(double time, double& next_change) const;
  std::int64_t instant() const;
  void seek(std::int64_t start);
  void skip_outages();
  const Interval* outage_at(double time) const;

  BitsPerSecond rate_;
  RateSchedulePtr schedule_;
  std::int64_t offset_ = 0;  ///< the schedule is so far ahead; times inside this class are its own
  std::vector<Interval> outages_;  ///< ns, ascending
  // A trace's next instant is line `line_` of round `round_`; `left_` bytes of it may pass.
  std::int64_t round_ = 0;
  std::size_t line_ = 0;
  std::int64_t left_ = 0;
};

}  // namespace gradwire::sim
