#include "sim/flow/queues/codel.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kRecentIntervals = 16;  // RFC 8289, 5.4: a new episode goes on where one ended
constexpr double kRootUnits = 65536;

}  // namespace

CoDelTimes codel_times(double segment_time, const TcpConstants& constants) {
  const double target = std::max(constants.codel_target, constants.codel_segments * segment_time);
  return {target, std::max(constants.codel_interval, 2 * target)};
}

/// From here on drops are interval / sqrt(count) apart.
void CoDel::count_to(int to) {
  count = to;
  if (!by_steps) {
    spacing = times.interval / std::sqrt(static_cast<double>(count));
    return;
  }
  if (count == 1) {
    root = 1 - 1 / kRootUnits;
  } else {
    root = std::floor(root * (3 - count * root * root) / 2 * kRootUnits) / kRootUnits;
  }
  spacing = times.interval * root;
}

bool CoDel::drops(double start, double waited) {
  if (waited < times.target) {
    above_since = -1;
  } else if (above_since < 0) {
    above_since = start + times.interval;
  }
  if (above_since < 0 || start <= above_since) {
    if (dropping) leave();
    return false;
  }
  if (!dropping) {
    dropping = true;
    const int since = count - last_count;
    const bool recent = start - next_drop < kRecentIntervals * times.interval;
    count_to(since > 1 && recent ? since : 1);
    last_count = count;
    next_drop = start + spacing;
    return true;
  }
  if (start < next_drop) return false;
  count_to(count + 1);
  next_drop += spacing;
  return true;
}

}  // namespace gradwire::sim
