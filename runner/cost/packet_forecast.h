#pragma once
#include <memory>
#include <optional>
#include <string>

#include "runner/training/profile_cache.h"
#include "scenarios/trainer.h"

namespace gradwire::runner {

/// What a run on the packet executor will cost, said before it starts. It is right within a factor
/// of two or so (docs/packet.md).
struct PacketForecast {
  double events = 0;  ///< of ns-3's scheduler
  double wall_s = 0;  ///< on one core of this machine, as busy as it is now
  std::string note;   ///< what coarse segments do to the result; empty where they are not used
};

/// `steps` steps such as `plan`. The machine's speed is measured once a process, where the work is
/// worth it and gradwire-packet can run; else a typical one is taken.
PacketForecast forecast_packet_run(const scenarios::Scenario& scenario,
                                   const scenarios::StepPlan& plan, std::int64_t steps,
                                   const std::string& packet_program);

struct FirstStep {
  std::unique_ptr<scenarios::Trainer> trainer;
  scenarios::StepPlan plan;
};

/// Makes the scenario's trainer and its first step, which for a training workload measures compute
/// times (kept in `profiles`) and trains that step. Empty where this machine cannot do that.
std::optional<FirstStep> first_step(const scenarios::Scenario& scenario, ProfileCache& profiles);

/// The forecast before anything runs, by first_step(). Empty where that is.
std::optional<PacketForecast> forecast_packet_run(const scenarios::Scenario& scenario,
                                                  ProfileCache& profiles);

/// "about 870 thousand events, 1.73 s of wall clock"
std::string in_words(const PacketForecast& forecast);

}  // namespace gradwire::runner
