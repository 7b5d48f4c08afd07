#pragma once
#include <cstdint>
#include <vector>

#include "trainers/data/data_set.h"
#include "trainers/timing/measure.h"

/// What the benchmarks of training share.
namespace gradwire::trainers {

/// Random pixels of 28 x 28 images in ten classes, one in ten kept for evaluation; normalised. The
/// same for the same arguments.
DataSet made_up_images(std::size_t samples, std::uint64_t seed);

/// Two programs timed one beside the other: [pair], seconds.
struct PairedTimes {
  std::vector<double> first, second;
};

/// The two take turns in going first, so that a machine that warms up or slows down favours
/// neither.
template <typename First, typename Second>
PairedTimes time_pairs(int pairs, First&& time_first, Second&& time_second) {
  PairedTimes times;
  for (int pair = 0; pair < pairs; ++pair) {
    if (pair % 2 == 0) times.first.push_back(time_first());
    times.second.push_back(time_second());
    if (pair % 2 == 1) times.first.push_back(time_first());
  }
  return times;
}

/// second / first of each pair.
struct PairedRatios {
  double median = 0;
  double low = 0, high = 0;  ///< quartiles
};
PairedRatios ratios_of(const PairedTimes& times);

}  // namespace gradwire::trainers
