#pragma once
#include <cstdint>
#include <string>

#include "results/store/store.h"
#include "scenarios/scenario.h"

namespace gradwire::runner {

/// Where a run stands; for progress bars, JSON lines and the desktop program.
struct RunProgress {
  int run = 0;  ///< 1-based position in the sweep
  int runs = 1;
  std::string name;
  std::string method;
  std::uint64_t seed = 0;
  std::int64_t step = 0;  ///< steps done
  std::int64_t steps = 0;
  double simulated_s = 0;   ///< virtual time reached
  double wall_s = 0;        ///< since the run started
  double remaining_s = -1;  ///< estimate for this run; negative: not known yet
  double loss = 0;
  std::string phase;  ///< measuring, training
};

struct PacketForecast;

/// Told about a sweep as it goes. Calls come from one thread at a time.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_progress(const RunProgress&) {}
  /// Before a run on the packet executor starts.
  virtual void on_forecast(const RunProgress&, const PacketForecast&) {}
  /// `skipped`: a finished run of the same scenario and seed was there already (--resume).
  virtual void on_run_ended(const RunProgress&, const results::RunSummary&, bool skipped) {
    (void)skipped;
  }
  virtual void on_run_failed(const RunProgress&, const std::string& message) { (void)message; }
};

}  // namespace gradwire::runner
