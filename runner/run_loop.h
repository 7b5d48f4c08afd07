#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "runner/run_observer.h"
#include "runner/training/profile_cache.h"
#include "runner/training/shared_training.h"
#include "scenarios/trainer.h"
#include "sim/session/executor.h"

/// One run: the trainer makes step graphs, the executor runs them on its clock, the store keeps
/// what happened. Two graphs are in flight, so that no barrier but the graphs' own edges separates
/// steps.
namespace gradwire::runner {

/// What an executor from outside has to say about a run, at its end.
struct RunFacts {
  std::vector<std::string> notes;          ///< what it did otherwise than the scenario asks
  std::vector<scenarios::Figure> figures;  ///< measured
  /// Why what it ran was not the scenario's network, so that a run that finished is stored as
  /// invalid; empty: it was.
  std::string invalid = {};
};

struct RunOptions {
  int threads = 1;
  std::string executor;  ///< overrides the scenario's; empty = as the scenario says
  std::string packet_program;
  /// Folders for what the packet executor writes of the sweep's N-th run: run-N/HOST.pcap and
  /// run-N.xml; empty = nothing.
  std::string pcap_folder;
  std::string flow_monitor_folder;
  /// Folder for the model that the sweep's N-th run has trained: run-N.grwm; empty = none is kept.
  std::string models_folder;
  double append_every_s = 0.5;  ///< wall time between transactions
  /// Replaces make_executor (the emulator's executor comes from outside sim/).
  std::function<std::unique_ptr<sim::Executor>(const scenarios::Scenario&)> executor_factory;
  /// Asked when a run with such an executor ends; may be empty.
  std::function<RunFacts()> executor_facts;
  /// Trains all steps of a training workload before the first is submitted: for executors on a real
  /// clock, which training beside them would disturb. Only for methods whose learning does not
  /// depend on the network.
  bool train_first = false;
  /// The executor is given what messages hold, where that is known: for those that really send
  /// them.
  bool keeps_payloads = false;
  /// Where checkpoints of training runs are kept (runner/checkpoints/); empty: none are. Not with
  /// executors from outside, which cannot be asked the same again.
  std::string checkpoint_folder;
  /// Wall time; shorter at the beginning (the first after a second), longer where writing one takes
  /// more than 2 % of it.
  double checkpoint_every_s = 30;
  /// Goes on from a checkpoint where there is one. What the store has of the run is replaced.
  bool resume = false;
  /// A run whose simulation would take longer, of one core's time, is not begun
  /// (runner/cost/run_cost.h).
  double most_hours = 168;
  /// What clients of federated rounds remember: at most so much in memory, the rest in a file in
  /// `states_folder`. None = all of it in memory.
  std::optional<Bytes> memory = {};
  std::string states_folder = ".";
  std::optional<int> rank = {};  ///< of this process, where several share a sweep
  /// Identity of the unfinished run, in another store, whose place the run takes; empty: none.
  std::string uid = {};
  /// How finely `flow` simulates it (runner/cost/sweep_details.h); empty: as it says or chooses.
  std::optional<sim::Detail> detail = {};
  /// Frozen compute times of an earlier measurement, kept from run to run.
  ProfileCache* profiles = nullptr;
  /// What runs that learn alike have trained; not with executors from outside.
  SharedTraining* shared = nullptr;
};

enum class RunOutcome { kFinished, kDiverged, kInterrupted };

/// Runs `scenario` and stores it (status running, then finished, partial on an interrupt, failed on
/// an Error, which is rethrown). `progress` carries run, runs; its other fields are filled in.
RunOutcome run_scenario(const scenarios::Scenario& scenario, const RunOptions& options,
                        results::Store& store, RunObserver& observer, RunProgress progress,
                        results::RunId& run);

}  // namespace gradwire::runner
