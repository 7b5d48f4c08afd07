#include "sim/flow/tcp/changing_wire.h"

namespace gradwire::sim {
namespace {

/// s: there may be too many changes in it to walk through.
constexpr double kFarAhead = 1;

}  // namespace

double ChangingWire::through(double begin, double bytes) {
  begin > begun_ + kFarAhead ? follower_.seek(begin) : follower_.advance(begin);
  begun_ = begin;
  if (follower_.rate() > 0 && begin + bytes / follower_.rate() <= follower_.next())
    return begin + bytes / follower_.rate();  // nearly always
  RateFollower ahead = follower_;
  for (double at = begin;;) {
    const double rate = ahead.rate(), next = ahead.next();
    if (rate > 0 && at + bytes / rate <= next) return at + bytes / rate;
    if (next == std::numeric_limits<double>::infinity()) return next;
    bytes -= rate * (next - at);
    at = next;
    ahead.advance(at);
  }
}

}  // namespace gradwire::sim
