#include "sim/flow/tcp/bottleneck.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kRecentIntervals = 16;  // RFC 8289, 5.4: a new episode goes on where one ended

}  // namespace

void Bottleneck::set_rate(double now, double rate) {
  stretch_ = 1;
  if (rate == rate_) return;
  if (rate > 0 && rate_ > 0) stretch_ = rate_ / rate;
  free_at_ = moved(now, free_at_);
  rate_ = rate;
}

bool Bottleneck::pass(double now, double bytes) {
  const double start = std::max(now, free_at_);
  if (discipline_.limit > 0) {
    if ((start - now) * rate_ + bytes > discipline_.limit) return false;
  } else if (drops(start, start - now)) {
    return false;
  }
  free_at_ = start + bytes / rate_;
  return true;
}

bool Bottleneck::is_late(double start, double waited) {
  if (waited < discipline_.target) {
    above_since_ = -1;
    return false;
  }
  if (above_since_ < 0) above_since_ = start + discipline_.interval;
  return start > above_since_;
}

double Bottleneck::next_drop_after(double time) const {
  return time + discipline_.interval / std::sqrt(static_cast<double>(count_));
}

bool Bottleneck::drops(double start, double waited) {
  const bool late = is_late(start, waited);
  if (!dropping_) {
    if (!late) return false;
    dropping_ = spared_ = true;
    const int since = count_ - last_count_;
    const bool recent = start - next_drop_ < kRecentIntervals * discipline_.interval;
    count_ = since > 1 && recent ? since : 1;
    last_count_ = count_;
    next_drop_ = next_drop_after(start);
    return true;
  }
  if (!late) {
    dropping_ = spared_ = false;
    return false;
  }
  if (spared_) {
    spared_ = false;
    if (start < next_drop_) return false;
  }
  if (start < next_drop_) return false;
  ++count_;
  next_drop_ = next_drop_after(next_drop_);
  return true;
}

}  // namespace gradwire::sim
