#include "results/points/point_list.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "results/prediction/step_model.h"

namespace gradwire::results {
namespace {

constexpr double kContradiction = 1.5;
constexpr double kImplausible = 20;

bool same(const BucketSummary& a, const BucketSummary& b) {
  return a.backward_s == b.backward_s && a.encode_s == b.encode_s && a.decode_s == b.decode_s &&
         a.add_s == b.add_s && a.message_bytes == b.message_bytes && a.pull_bytes == b.pull_bytes &&
         a.prelude_bytes == b.prelude_bytes && a.scale_s == b.scale_s;
}

/// One configuration: everything but the time that it took.
bool same(const StepSummary& a, const StepSummary& b) {
  return a.exchange == b.exchange && a.workers == b.workers && a.group == b.group &&
         a.forward_s == b.forward_s && a.update_s == b.update_s && a.overlap == b.overlap &&
         a.compute_spread == b.compute_spread && a.slowest == b.slowest &&
         a.bandwidth == b.bandwidth && a.server_bandwidth == b.server_bandwidth &&
         a.delay_s == b.delay_s && a.loss == b.loss && a.rate_spread == b.rate_spread &&
         std::equal(a.buckets.begin(), a.buckets.end(), b.buckets.begin(), b.buckets.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

std::string times(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g times", ratio);
  return text;
}

/// False where the point is another one's repetition.
bool compare_with(const std::vector<StepPoint>& earlier, const StepPoint& point,
                  std::vector<std::string>& warnings) {
  for (const StepPoint& other : earlier) {
    if (!same(other.step, point.step)) continue;
    if (other.seconds == point.seconds) {
      warnings.push_back(point.name + " repeats " + other.name + ": taken once");
      return false;
    }
    const double ratio =
        std::max(other.seconds, point.seconds) / std::min(other.seconds, point.seconds);
    if (ratio > kContradiction)
      warnings.push_back(point.name + " contradicts " + other.name + ": one configuration, " +
                         times(ratio) + " the time");
  }
  return true;
}

void doubt_units(const StepPoint& point, std::vector<std::string>& warnings) {
  const double usual = step_time(point.step, usual_constants()).total_s;
  const double ratio = point.seconds / usual;
  if (ratio > kImplausible || ratio < 1 / kImplausible)
    warnings.push_back(point.name + " took " + times(ratio) +
                       " what such a step usually takes: are its units right?");
}

}  // namespace

void check_points(PointList& list) {
  std::vector<StepPoint> kept;
  for (const StepPoint& point : list.points) {
    if (!compare_with(kept, point, list.warnings)) continue;
    doubt_units(point, list.warnings);
    kept.push_back(point);
  }
  list.points = std::move(kept);
}

}  // namespace gradwire::results
