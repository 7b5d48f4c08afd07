#pragma once
#include <string>

#include "cli/context.h"
#include "cli/emulation/emulator_module.h"
#include "results/store/store.h"
#include "runner/emulated_twin.h"
#include "runner/run_loop.h"
#include "runner/run_observer.h"
#include "runner/training/profile_cache.h"

/// A scenario in the emulator, and its twins in simulators on the links that were emulated.
namespace gradwire::cli {

/// Metrics of an emulated run.
inline constexpr const char* kBaseRtt = "base_rtt_s";
inline constexpr const char* kOverhead = "base_rtt_overhead_s";
/// How late frames left the link process: the median, one in a hundred, the latest.
inline constexpr const char* kLate50 = "link_late_50_s";
inline constexpr const char* kLate99 = "link_late_99_s";
inline constexpr const char* kLateMost = "link_late_most_s";
/// For how much of their time hosts waited for what learning decided.
inline constexpr const char* kHeldUp = "held_up_share";

/// What PyTorch's Gloo takes for a step's floats without any codec, in the median.
inline constexpr const char* kGloo = "gloo_exchange_s";

/// A figure of a whole run; NaN where it was not stored.
double whole_run_figure(const results::Store& store, results::RunId run, const std::string& name);

/// What was emulated, as the run tells.
runner::EmulatedLinks emulated_links(const results::Store& store, results::RunId run);

/// Says with what it was emulated, and what is missing.
void describe(const emulator::EmulatorReport& report, const Context& context);

struct EmulatedRunOptions {
  int threads = 1;
  std::string shaper = {};                  ///< empty: auto
  std::string rendezvous = {};              ///< of hosts on machines of their own; empty: none
  std::vector<std::string> incidents = {};  ///< what goes wrong
  bool gloo = false;                        ///< beside each run
  bool resume = false;                      ///< take runs that have ended in the store
};

/// Its runs replay the same compute times. Keeps the store and the observer.
class EmulatedRun {
 public:
  EmulatedRun(EmulatedRunOptions options, results::Store& store, runner::RunObserver& observer)
      : options_(options), store_(store), observer_(observer) {}

  /// 0: interrupted before its end. Throws Error, also where the run is stored as invalid.
  results::RunId emulate(const scenarios::Scenario& scenario, const runner::RunProgress& at);
  /// The scenario's twin on `executor`. 0: interrupted before its end. Throws Error.
  results::RunId simulate(const scenarios::Scenario& scenario, const std::string& executor,
                          const runner::EmulatedLinks& links, const runner::RunProgress& at);
  /// The scenario as it is. 0: interrupted before its end. Throws Error.
  results::RunId run(const scenarios::Scenario& scenario, const runner::RunProgress& at);

  /// Of the latest emulation; empty before the first.
  const emulator::EmulatorReport& report() const { return report_; }

 private:
  std::unique_ptr<emulator::Emulator> make(const scenarios::Scenario& scenario) const;
  runner::RunFacts facts() const;
  void add_gloo(runner::RunFacts& facts) const;
  void require_valid(results::RunId run) const;
  results::RunId finished(const scenarios::Scenario& scenario, const runner::RunProgress& at,
                          bool emulated);
  results::RunId store(const scenarios::Scenario& scenario, runner::RunOptions options,
                       const runner::RunProgress& at);

  EmulatedRunOptions options_;
  results::Store& store_;
  runner::RunObserver& observer_;
  emulator::EmulatorReport report_;
  emulator::Emulator* emulator_ = nullptr;  ///< of the run under way, which owns it
  int element_bytes_ = 4;                   ///< of what Gloo sums in its place
  runner::ProfileCache profiles_;
};

}  // namespace gradwire::cli
