#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>

#include "scenarios/trainer.h"

namespace gradwire::runner {

/// What the run loop itself knows at a checkpoint.
struct RunState {
  std::uint64_t stimuli = 0;  ///< that its schedule has reacted to
  double wall_s = 0;          ///< that it has taken so far
  /// The graph of the step that the run's summary is of, once there is one.
  std::optional<std::uint64_t> summarized = {};
  scenarios::ComputeProfile profile = {};  ///< frozen when the run began
};

void save_state(const RunState& state, std::ostream& out);
/// Throws Error for a stream that ends too early.
RunState load_state(std::istream& in);

}  // namespace gradwire::runner
