#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"
#include "runner/prediction/step_times.h"
#include "scenarios/scenario.h"

/// Cases of `bench prediction`: training steps of drawn layer tables on drawn networks.
namespace gradwire::bench {

enum class PredictionRegime { kClean, kLossy, kMobile, kPacket, kUnequal, kUnequalLossy };
std::string_view name_of(PredictionRegime regime);
/// Whether the network's links differ, and so the network is drawn, not the link.
bool is_unequal(PredictionRegime regime);
/// Steps are all alike, once windows are open.
bool is_exact(PredictionRegime regime);

struct PredictionCase {
  PredictionRegime regime{};
  std::string exchange;  ///< ring, all-gather, server; of unequal links the collective
  std::string codec;
  std::string name;
  std::string scenario;  ///< JSON; "@WORKERS@" stands for the number of workers
  std::string table;     ///< JSON of the layer table; "@TABLE@" in `scenario` for its file
  /// Of unequal links: "@NETWORK@" in `scenario` for so many workers.
  std::function<std::string(int workers)> network;
  int workers = 0;  ///< of unequal links: that are held out
};

/// `count` cases of a regime, exchanges and codecs by turns.
std::vector<PredictionCase> prediction_cases(std::uint64_t seed, PredictionRegime regime,
                                             int count);

scenarios::Scenario scenario_of(const PredictionCase& given, const std::string& table_file,
                                int workers);

/// The case's step on `workers` workers: its closed-form summary, and the mean time of its steps on
/// its executor but the first, over the seeds from `first_seed` on. `work`: what one point may take
/// over what the cases' own points may.
results::StepPoint simulate_step(const PredictionCase& given, const std::string& table_file,
                                 int workers, std::uint64_t first_seed = 1,
                                 const runner::StepChanges& changes = {}, double work = 1);

}  // namespace gradwire::bench
