#pragma once
#include <cstdint>

#include "base/units.h"

namespace gradwire::trainers {

/// A point of a training run, as learning sees it; the first step, round and epoch are 0.
struct Moment {
  std::int64_t step = 0;
  std::int64_t round = 0;       ///< of rounds, the round; of lockstep, the step
  std::int64_t local_step = 0;  ///< since the worker last took part in an exchange
  double epoch = 0;             ///< passes over the training data so far, of all workers together
  Seconds now{0};               ///< virtual time; 0 where learning does not wait for it
};

}  // namespace gradwire::trainers
