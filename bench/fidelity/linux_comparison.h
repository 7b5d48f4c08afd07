#pragma once
#include <string>
#include <vector>

#include "bench/fidelity/regimes.h"

namespace gradwire::bench {

/// How far `flow` is from kernel TCP on one case.
struct LinuxComparison {
  std::string name;
  /// |flow - kernel| / kernel: of each repeat's makespan where nothing is lost (the first is on a
  /// fresh connection), else of the mean.
  std::vector<double> errors;
  double kernel = 0;       ///< s: the mean of transfers, or of makespans
  double flow = 0;         ///< s
  double quantile_50 = 0;  ///< errors of quantiles, where something is lost
  double quantile_90 = 0;
  double kernel_error = 0;  ///< standard error of the kernel's mean, as a share of it
  int transfers = 0;        ///< measured
  int disturbed = 0;        ///< clean: repetitions that were late, and made again
  bool spoilt = false;      ///< the links were late in every try: no measurement
};

/// One repetition of a repeat.
struct Repetition {
  double span = 0;  ///< s
  double late = 0;  ///< s: the latest frame's lateness
  bool is_disturbed() const;
};
/// The median span of those that are not disturbed or, where they are too few, of the three least.
double undisturbed_median(std::vector<Repetition> repetitions);

/// A case without loss: the median of three undisturbed repetitions, repeat by repeat. Where a
/// frame left the links late by more than 1 % of a repetition, or 40 us, the case is run again, up
/// to twelve times.
LinuxComparison compare_linux_clean(const FidelityCase& c, double limit_s);
/// A case with loss: means and quantiles of all its transfers, the fresh ones included.
LinuxComparison compare_linux_lossy(const FidelityCase& c, double limit_s);

}  // namespace gradwire::bench
