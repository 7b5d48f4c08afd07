#include "trainers/updates/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace gradwire::trainers {
namespace {

double scale_of(const RateSchedule& schedule, const RunShape& run) {
  const double k = static_cast<double>(run.batch) * run.workers / *schedule.reference_batch;
  switch (schedule.scaling) {
    case RateSchedule::Scaling::kNone:
      return 1;
    case RateSchedule::Scaling::kLinear:
      return k;
    case RateSchedule::Scaling::kSquareRoot:
      return std::sqrt(k);
  }
  GRADWIRE_ASSERT(false);
  return 1;
}

/// From 1 down to the schedule's end: the share of the peak at `t` >= warm_up.
double share_at(const RateSchedule& s, double t) {
  const double length = *s.over - s.warm_up;
  const double x = length > 0 ? std::min(1.0, (t - s.warm_up) / length) : 1.0;
  switch (s.shape) {
    case RateSchedule::Shape::kConstant:
      return 1;
    case RateSchedule::Shape::kStep: {
      double share = 1;
      for (const double milestone : s.milestones)
        if (milestone <= t) share *= s.factor;
      return share;
    }
    case RateSchedule::Shape::kCosine:
      return s.final + (1 - s.final) * (1 + std::cos(std::numbers::pi * x)) / 2;
    case RateSchedule::Shape::kPolynomial:
      return s.final + (1 - s.final) * std::pow(1 - x, s.power);
    case RateSchedule::Shape::kInverseTime:
      return 1 / (1 + (t - s.warm_up) / s.time);
  }
  GRADWIRE_ASSERT(false);
  return 1;
}

}  // namespace

RateSchedule::Shape shape_of(const std::string& name) {
  using Shape = RateSchedule::Shape;
  if (name == "step") return Shape::kStep;
  if (name == "cosine") return Shape::kCosine;
  if (name == "polynomial") return Shape::kPolynomial;
  if (name == "inverse-time") return Shape::kInverseTime;
  GRADWIRE_ASSERT(name == "constant");
  return Shape::kConstant;
}

RateSchedule::Scaling scaling_of(const std::string& name) {
  using Scaling = RateSchedule::Scaling;
  if (name == "linear") return Scaling::kLinear;
  if (name == "square-root") return Scaling::kSquareRoot;
  GRADWIRE_ASSERT(name == "none");
  return Scaling::kNone;
}

RateSchedule completed(const RateSchedule& schedule, double rate, const RunShape& run) {
  RateSchedule whole = schedule;
  if (!whole.reference_batch) whole.reference_batch = run.batch;
  const double scale = scale_of(whole, run);
  whole.peak = rate * scale;
  if (!whole.warm_up_from)
    whole.warm_up_from =
        whole.scaling == RateSchedule::Scaling::kNone ? 0 : std::min(1.0, 1 / scale);
  if (!whole.over) whole.over = whole.in_epochs ? run.epochs : static_cast<double>(run.steps);
  return whole;
}

double rate_at(const RateSchedule& schedule, const Moment& moment) {
  GRADWIRE_ASSERT(schedule.over && schedule.warm_up_from);
  const double t = schedule.in_epochs ? moment.epoch : static_cast<double>(moment.step);
  if (t < schedule.warm_up) {
    const double from = *schedule.warm_up_from;
    return schedule.peak * (from + (1 - from) * t / schedule.warm_up);
  }
  return schedule.peak * share_at(schedule, t);
}

}  // namespace gradwire::trainers
