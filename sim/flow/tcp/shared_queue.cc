#include "sim/flow/tcp/shared_queue.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kSegmentRounding = 1e-6;  // of a packet's time: what happens at one instant
constexpr double kLater = 2e-9;            // of it: in that, what comes after another
constexpr int kMostOrdered = 250;          // packets one after the other

}  // namespace

bool SharedQueue::fits(double now, double bytes, double rate, bool first) {
  const double instant = kSegmentRounding * bytes / rate;
  if (has_wire_ && !wire_) return std::max(0.0, free_at_ - now) * rate + bytes <= limit_;
  const double left = first ? now - instant : now + instant;
  while (!waiting_.empty() && waiting_.front().leaves <= left &&
         waiting_.front().came <= now - instant) {
    filled_ -= waiting_.front().bytes;
    waiting_.pop();
  }
  const double counted = has_wire_ ? bytes : bytes - framing_;
  const double leaves = has_wire_    ? wire_->through(std::max(now, free_at_), bytes)
                        : has_place_ ? begun_
                                     : free_at_;
  if (leaves > left || (leaves > now - instant && came_ > now - instant)) {
    if (filled_ + counted > limit_) return false;
    waiting_.push({now, leaves, counted});
    filled_ += counted;
  }
  return true;
}

double SharedQueue::later_of(int follows, double time, bool first) {
  const int before = std::min(follows, kMostOrdered);
  return kLater * time * (first ? before : kMostOrdered - before);
}

bool SharedQueue::pass(double now, double bytes, double rate, bool first) {
  if (!fits(now, bytes, rate, first)) return false;
  const double instant = kSegmentRounding * bytes / rate;
  // What is busy goes on by an event of its own, which was scheduled when its last packet began;
  // what was idle, when something was sent elsewhere: longer ago, or not.
  busy_ = free_at_ > now - instant ? std::min(busy_ + 1, kMostOrdered) : 0;
  later_ = later_of(busy_, bytes / rate, first);
  came_ = now;
  begun_ = std::max(now, free_at_);
  free_at_ = wire_ ? wire_->through(begun_, bytes) : begun_ + bytes / rate;
  departure_ = jitter_.arrival(free_at_);
  return true;
}

}  // namespace gradwire::sim
