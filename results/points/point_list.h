#pragma once
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"

/// Points that were measured elsewhere, from tables (csv_points.h) and logs (log_points.h).
namespace gradwire::results {

struct PointList {
  std::vector<StepPoint> points;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  ///< what was taken from where
};

/// Repeated points (all figures equal) are taken once; points of one configuration whose times
/// differ by more than kContradiction, and points whose time is kImplausible times off the usual
/// constants' (units?) are named. All of it in `warnings`.
void check_points(PointList& list);

}  // namespace gradwire::results
