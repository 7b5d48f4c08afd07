#include "sim/flow/tcp/bottleneck.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

/// Less than a packet is no queue (RFC 8289, 4.2); bytes of its payload.
constexpr double kLeastBehind = 1448;
constexpr double kRecentIntervals = 16;  // RFC 8289, 5.4: a new episode goes on where one ended
constexpr double kRootUnits = 65536;

}  // namespace

void Bottleneck::set_rate(double now, double rate) {
  stretch_ = 1;
  if (rate == rate_) return;
  if (rate > 0 && rate_ > 0) stretch_ = rate_ / rate;
  free_at_ = moved(now, free_at_);
  begun_ = moved(now, begun_);
  rate_ = rate;
}

bool Bottleneck::pass(double now, double bytes, double behind) {
  double start = std::max(now, free_at_);
  double service = bytes / rate_;
  if (discipline_.line_rate > rate_) {
    start = std::max(now, free_at_ + service - bytes / discipline_.line_rate);
    service = bytes / discipline_.line_rate;
  }
  if (discipline_.limit > 0) {
    if ((start - now) * rate_ + bytes > discipline_.limit) return false;
  } else {
    const double leaves = discipline_.at_device ? std::max(now, begun_) : start;
    // What was dropped is sent again, and may come behind it.
    const bool is_last = discipline_.at_device && behind < kLeastBehind && !dropping_;
    if (drops(leaves, is_last ? 0 : leaves - now)) return false;
  }
  begun_ = start;
  free_at_ = start + service;
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

/// From here on drops are interval / sqrt(count) apart.
void Bottleneck::count_to(int count) {
  count_ = count;
  if (!discipline_.at_device) {
    spacing_ = discipline_.interval / std::sqrt(static_cast<double>(count));
    return;
  }
  if (count == 1) {
    root_ = 1 - 1 / kRootUnits;
  } else {
    root_ = std::floor(root_ * (3 - count * root_ * root_) / 2 * kRootUnits) / kRootUnits;
  }
  spacing_ = discipline_.interval * root_;
}

void Bottleneck::begin_episode(double start) {
  const int since = count_ - last_count_;
  const bool recent = start - next_drop_ < kRecentIntervals * discipline_.interval;
  count_to(since > 1 && recent ? since : 1);
  last_count_ = count_;
  next_drop_ = start + spacing_;
}

bool Bottleneck::drops(double start, double waited) {
  const bool late = is_late(start, waited);
  if (!dropping_) {
    if (!late) return false;
    dropping_ = spared_ = true;
    begin_episode(start);
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
  count_to(count_ + 1);
  next_drop_ += spacing_;
  return true;
}

}  // namespace gradwire::sim
