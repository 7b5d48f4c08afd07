#include "sim/flow/tcp/shared_queue.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kSegmentRounding = 1e-6;  // of a packet's time: what happens at one instant

}  // namespace

bool SharedQueue::fits(double now, double bytes, double rate) {
  const double instant = kSegmentRounding * bytes / rate;
  const double left = now + instant;
  while (!waiting_.empty() && waiting_.front().leaves <= left &&
         waiting_.front().came <= now - instant) {
    filled_ -= waiting_.front().bytes;
    waiting_.pop();
  }
  const double counted = bytes - framing_;
  if (begun_ <= left && (begun_ <= now - instant || came_ <= now - instant)) return true;
  if (filled_ + counted > limit_) return false;
  waiting_.push({now, begun_, counted});
  filled_ += counted;
  return true;
}

bool SharedQueue::pass(double now, double bytes, double rate) {
  if (!fits(now, bytes, rate)) return false;
  came_ = now;
  begun_ = std::max(now, free_at_);
  free_at_ = begun_ + bytes / rate;
  return true;
}

}  // namespace gradwire::sim
