#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/fidelity/regimes.h"
#include "sim/sim_error.h"

namespace gradwire::bench {

/// How far `flow` is from a reference on one case.
struct Comparison {
  std::string name;
  /// Of each figure that is compared (a step, a flow, or one mean): |flow - reference| / reference,
  /// and |flow - reference| in seconds.
  std::vector<double> errors;
  std::vector<double> differences;
  /// Of clean cases that are off: how many figures the reference itself changes by more than kChaos
  /// of their mean where starts are shifted by up to 2 us, and by how much at most. Their errors
  /// are those of means over the shifts, and 0 within that range: nobody could be nearer.
  int chaotic = 0;
  double spread = 0;
  double quantile_50 = 0;  ///< errors of quantiles, of random cases
  double quantile_90 = 0;
  double timeouts = 0;  ///< share of the reference's transfers with a timeout
  double timeouts_flow = 0;
  /// Standard error of the reference's mean, as a share of it; the largest where there are several.
  double reference_error = 0;
  int transfers = 0;  ///< the reference's, of random cases
  double wall_s = 0;  ///< of the reference: runs that ran side by side are summed
  double round_trip = 0;
  bool is_lossy = false;
  /// Why the reference has no figures of it: then there is nothing above but its name.
  std::string not_compared = {};
};

/// The reference could not run a case to its end. A failure of `flow` is none.
class ReferenceFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `run` gives, a run of the reference. Throws ReferenceFailure where a transfer failed, and
/// what else `run` throws.
template <typename Run>
auto by_reference(Run run) {
  try {
    return run();
  } catch (const sim::SimError& error) {
    throw ReferenceFailure(error.what());
  }
}

void add_difference(Comparison& result, double flow, double reference);

inline constexpr double kChaos = 0.05;
/// Six shifts showed a range of 5 % where twelve showed 10: a turn that comes once in five.
inline constexpr std::uint64_t kShifts = 12;

/// Clean cases, and those that lose the same (sim/cluster/channel_draws.h): each of
/// clean_figures() by itself. Throws ReferenceFailure.
Comparison compare_clean(const FidelityCase& c, const std::string& reference);

}  // namespace gradwire::bench
