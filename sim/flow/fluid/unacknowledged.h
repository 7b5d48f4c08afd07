#pragma once
#include <algorithm>
#include <limits>

/// What a connection has sent as a fluid and may not be acknowledged yet.
///
/// The last byte of a burst of b bytes that was sent until e is acknowledged at e + r0, those
/// before it at the line's rate c at most:
///     unacknowledged at t  <=  sum of min(b, max(0, e + r0 - t) c)
/// with equality where bursts went out at the line's rate. What follows another with hardly a pause
/// belongs to its burst. Two bursts are kept; what is left of those before them counts as sent
/// together with the older one of the two, of which only the time without bytes is known as well.
namespace gradwire::sim {

class Unacknowledged {
 public:
  /// A burst's last byte was sent at `end`; none has ended later before. c in bytes/s, r0 in s.
  void add(double end, double bytes, double c, double r0) {
    const Burst kept = last_.rest(end, c, r0);
    if ((end - last_.end) * c < kHardlyAPause * bytes) {
      last_ = joined(kept, {end, static_cast<float>(bytes)}, end - last_.end - bytes / c);
      return;
    }
    const Burst before = older_.rest(end, c, r0);
    older_ = joined(before, kept, before.bytes > 0 ? last_.begin(c) - older_.end : 0);
    last_ = {end, static_cast<float>(bytes)};
  }
  /// Bytes at `time`, which is no earlier than the last burst's end.
  double at(double time, double c, double r0) const {
    return older_.left(time, c, r0) + last_.left(time, c, r0);
  }
  /// The most bytes that can be unacknowledged, at any time.
  double most() const { return static_cast<double>(older_.bytes) + last_.bytes; }
  /// Time from `time` until the next acknowledgement, s; r0 where none is under way.
  double until_next(double time, double c, double r0) const {
    const Burst& first = older_.end + r0 > time ? older_ : last_;
    if (first.end + r0 <= time) return r0;
    return std::max(0.0, first.end + r0 - time - static_cast<double>(first.bytes) / c);
  }

  /// Calls take(begin, end, bytes) for the bursts that are kept, oldest first, and forgets them.
  template <typename Take>
  void hand_over(double c, Take take) {
    for (const Burst& burst : {older_, last_}) {
      if (burst.bytes > 0) take(burst.begin(c), burst.end, static_cast<double>(burst.bytes));
    }
    *this = {};
  }

 private:
  static constexpr double kHardlyAPause = 1.1;  ///< of the time that it takes by itself

  struct Burst {
    double end = -std::numeric_limits<double>::infinity();  ///< s
    float bytes = 0;
    float pause = 0;  ///< s in which nothing went out

    double begin(double c) const { return end - static_cast<double>(bytes) / c - pause; }
    double left(double time, double c, double r0) const {
      return std::min(static_cast<double>(bytes), std::max(0.0, end + r0 - time) * c);
    }
    /// What is left of it, with its part of the pause.
    Burst rest(double time, double c, double r0) const {
      if (end + r0 <= time) return {end};
      const auto kept = static_cast<float>(left(time, c, r0));
      return {end, kept, kept > 0 ? pause * kept / bytes : 0};
    }
  };

  /// `gap`: s between the two.
  static Burst joined(const Burst& first, const Burst& second, double gap) {
    const double pause = first.bytes > 0 ? std::max(gap, 0.0) + first.pause : 0;
    return {second.end, first.bytes + second.bytes, static_cast<float>(pause) + second.pause};
  }

  Burst older_;
  Burst last_;
};

}  // namespace gradwire::sim
