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
/// together with the older one of the two.
namespace gradwire::sim {

class Unacknowledged {
 public:
  /// A burst's last byte was sent at `end`; none has ended later before. c in bytes/s, r0 in s.
  void add(double end, double bytes, double c, double r0) {
    const double left = last_.left(end, c, r0);
    if ((end - last_.end) * c < kHardlyAPause * bytes) {
      last_ = {end, static_cast<float>(left + bytes)};
      return;
    }
    older_ = {last_.end, static_cast<float>(left + older_.left(end, c, r0))};
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

 private:
  static constexpr double kHardlyAPause = 1.1;  ///< of the time that it takes by itself

  /// Packed into 12 bytes: a connection's hot data is two cache lines.
  struct [[gnu::packed, gnu::aligned(4)]] Burst {
    double end = -std::numeric_limits<double>::infinity();  ///< s
    float bytes = 0;

    double left(double time, double c, double r0) const {
      return std::min(static_cast<double>(bytes), std::max(0.0, end + r0 - time) * c);
    }
  };

  Burst older_;
  Burst last_;
};

}  // namespace gradwire::sim
