#pragma once
#include <map>

#include "gui/jobs/run_process.h"
#include "results/figures/figure.h"

namespace gradwire::gui {

/// Training losses of runs that are under way, as their progress tells them: a curve a run.
class LiveCurves {
 public:
  /// More would hide each other: the runs that were heard of last.
  static constexpr std::size_t kMostCurves = 8;

  void clear() { curves_.clear(); }
  void add(const RunProgress& progress);
  bool empty() const;
  results::Figure figure() const;

 private:
  struct Curve {
    std::string name;
    std::vector<double> steps, losses;
  };
  std::map<int, Curve> curves_;  ///< by run
};

}  // namespace gradwire::gui
