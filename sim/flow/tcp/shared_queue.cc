#include "sim/flow/tcp/shared_queue.h"

#include <algorithm>

namespace gradwire::sim {

bool SharedQueue::pass(double now, double bytes, double rate) {
  for (; !waiting_.empty() && waiting_.front().leaves <= now; waiting_.pop())
    filled_ -= waiting_.front().bytes;
  const double counted = bytes - framing_;
  if (begun_ > now) {
    if (filled_ + counted > limit_) return false;
    waiting_.push({begun_, counted});
    filled_ += counted;
  }
  begun_ = std::max(now, free_at_);
  free_at_ = begun_ + bytes / rate;
  return true;
}

}  // namespace gradwire::sim
