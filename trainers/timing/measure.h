#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/units.h"

/// Clocks for the measuring phase.
namespace gradwire::trainers {

/// Held by one process of the machine at a time: two that measure at once would slow each other
/// down. Waits until it is free; released on destruction. Throws Error if the file cannot be had.
class MachineLock {
 public:
  MachineLock();

 private:
  FileDescriptor file_;
};

struct Spread {
  double median = 0;
  double relative_range = 0;  ///< interquartile range / median
};
/// Median and quartiles by linear interpolation. Precondition: not empty.
Spread spread_of(std::vector<double> values);

/// Wall-clock seconds of one call.
Seconds time_of(const std::function<void()>& call);
/// Median over `repetitions` calls after one that is not counted.
Seconds median_time(int repetitions, const std::function<void()>& call);

}  // namespace gradwire::trainers
