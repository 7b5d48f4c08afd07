#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/cliffs/operations.h"
#include "bench/fidelity/comparison.h"

/// `flow` against `packet` on one scenario.
namespace gradwire::bench {

/// Of which operations a scenario's figure is the mean time, and from when a time counts.
struct Measure {
  enum class Since {
    kStart,  ///< the operation's own start
    kFirst,  ///< the first start in its step
    kRun     ///< the run's first start
  };
  Since since = Since::kStart;
  std::string only;  ///< operations whose names this regular expression finds; empty: all
  /// Transfers and collectives alone: of scenarios that list transfers, whose waits are no work.
  bool transfers_alone = false;
};
/// What is usual: pipelines count from the run's start, collectives from their step's but for a
/// parameter server's, others from each operation's own.
Measure measure_of(const nlohmann::ordered_json& scenario);

/// Seconds of the operations that `measure` takes.
std::vector<double> times_of(const std::vector<Operation>& operations, const Measure& measure);

/// A mean of independent values, and its standard error (0: of one value).
struct MeanTime {
  double mean = 0;
  double error = 0;
  std::vector<double> values;  ///< of each seed, or each shift of starts
};
MeanTime mean_time_of(std::vector<double> values);

enum class CliffKind {
  kClean,   ///< nothing is drawn
  kChance,  ///< losses, jitter, traffic or times are drawn: means over seeds
  kCell     ///< radio, where chance says who is first: means over seeds, a bar of its own
};
CliffKind kind_of(const nlohmann::ordered_json& scenario);

inline constexpr double kCleanBar = 0.10;   ///< of the error, as a share of the reference
inline constexpr double kChanceBar = 0.15;  ///< ... together with
inline constexpr double kErrorsBar = 5;     ///< standard errors of the difference
inline constexpr double kCloseBar = 0.05;   ///< a scenario is close within this, or within
inline constexpr double kCloseErrors = 3;   ///< so many standard errors

struct Verdict {
  CliffKind kind = CliffKind::kClean;
  MeanTime flow, packet;
  /// How far ns-3's own figures lie apart where starts are shifted by microseconds, as a share of
  /// their mean; 0 where that was not asked, or is less than kChaos.
  double spread = 0;

  double error() const { return flow.mean == packet.mean ? 0 : flow.mean / packet.mean - 1; }
  /// The same in standard errors of the difference; 0 without chance.
  double errors() const;
  bool is_close() const;
  /// Beyond the bar of its kind, and beyond ns-3's own spread.
  bool is_off() const;
};

/// The scenario's JSON with starts moved by up to 2 us, drawn from `shift`: transfers begin later,
/// and where there are none listed workers compute for so long before they send.
nlohmann::ordered_json with_shifted_starts(nlohmann::ordered_json scenario, std::uint64_t shift);

/// Runs both executors: once where nothing is drawn, else with seeds from 1 on, more of them where
/// few leave it open. A scenario that is off runs with shifted starts, too (measure_spread()).
/// Empty where the scenario is refused, costs too much, or was stopped; `why` says it. A failure of
/// `flow` alone is an error without end.
class Judge {
 public:
  /// `most_seconds`: of wall time, after which a run is given up.
  Judge(std::string folder, Stop stop, double most_seconds = 60)
      : folder_(std::move(folder)), stop_(std::move(stop)), most_seconds_(most_seconds) {}

  std::optional<Verdict> judge(const nlohmann::ordered_json& scenario, const Measure& measure,
                               std::string& why) const;
  /// One executor alone, with the seeds 1 to `seeds`. Throws what reading or running throws.
  MeanTime mean_time(std::string_view executor, const nlohmann::ordered_json& scenario,
                     const Measure& measure, int seeds) const;
  /// Judges a verdict anew, by runs with shifted starts, each with a seed of its own: by their
  /// means and ns-3's spread where it moves at all. Of losses the spread says nothing, which their
  /// own chance has made: means alone, with their standard errors.
  void measure_spread(const nlohmann::ordered_json& scenario, const Measure& measure,
                      Verdict& verdict) const;

 private:
  double mean(const scenarios::Scenario& scenario, std::string_view executor, std::uint64_t seed,
              const Measure& measure) const;
  scenarios::Scenario read(const nlohmann::ordered_json& scenario) const;

  std::string folder_;  ///< paths in scenarios start there
  Stop stop_;
  double most_seconds_;
};

/// Of a radio cell, and of chance to begin with.
inline constexpr int kFewSeeds = 4;

/// Simulated work of ns-3 for one run above which a scenario is left alone.
inline constexpr double kMostEffort = 3e6;

}  // namespace gradwire::bench
