#include "runner/sweep.h"

#include "runner/interrupt.h"

namespace gradwire::runner {
namespace {

/// A finished run that --resume finds instead of running; unfinished ones make way.
std::optional<results::RunId> resumed(const scenarios::Scenario& scenario, results::Store& store) {
  const auto found = store.find_finished(scenario.hash, scenario.seed);
  if (!found) store.discard_unfinished(scenario.hash, scenario.seed);
  return found;
}

}  // namespace

SweepResult run_sweep(const scenarios::ScenarioFile& file, const SweepOptions& options,
                      results::Store& store, RunObserver& observer) {
  const InterruptGuard guard;
  SweepResult result;
  std::map<std::string, scenarios::ComputeProfile> profiles;
  SweepOptions run_options = options;
  run_options.profiles = &profiles;
  RunProgress progress;
  progress.runs = static_cast<int>(file.runs.size());
  for (const scenarios::Scenario& scenario : file.runs) {
    ++progress.run;
    progress.name = scenario.name;
    progress.seed = scenario.seed;
    try {
      results::RunId id = 0;
      const auto found = options.resume ? resumed(scenario, store) : std::nullopt;
      RunOutcome outcome = RunOutcome::kFinished;
      if (found) {
        id = *found;
        ++result.skipped;
      } else {
        outcome = run_scenario(scenario, run_options, store, observer, progress, id);
      }
      observer.on_run_ended(progress, *store.run(id), found.has_value());
      result.interrupted = outcome == RunOutcome::kInterrupted || interrupted_by() != 0;
      if (outcome == RunOutcome::kFinished) result.runs.push_back(id);
    } catch (const results::StoreError&) {
      throw;  // nothing more can be kept: no use in training on
    } catch (const Error& error) {
      ++result.failed;
      observer.on_run_failed(progress, error.what());
      if (error.kind() == ErrorKind::kCapability) throw;
    }
    if (result.interrupted) break;
  }
  return result;
}

}  // namespace gradwire::runner
