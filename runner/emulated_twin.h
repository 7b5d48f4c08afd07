#pragma once
#include "scenarios/scenario.h"

/// The simulated counterpart of an emulated run.
namespace gradwire::runner {

/// What an emulated network's links were, besides their rates, queues and losses.
struct EmulatedLinks {
  bool delays = false;  ///< the scenario's delays were emulated
  Seconds overhead{0};  ///< round trip between two hosts beyond those: wake-ups of processes
};

/// The scenario on `executor`, on the links that were emulated: each link has its delay, where that
/// was emulated, and a quarter of the overhead, since a star's round trip crosses four link delays.
scenarios::Scenario simulated_twin(const scenarios::Scenario& emulated, const std::string& executor,
                                   const EmulatedLinks& links);

}  // namespace gradwire::runner
