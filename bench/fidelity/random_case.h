#pragma once
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bench/fidelity/comparison.h"
#include "bench/fidelity/regimes.h"

/// Cases whose transfers are drawn: what many runs of the reference say of their means and
/// quantiles, and how surely.
///
/// `flow` runs beside each run of the reference with the same losses, as far as both send the same
/// (sim/cluster/channel_draws.h). What it takes then is a control variate (statistics.h):
/// its mean is known from runs of its own, which cost little, so that the reference's is known from
/// far fewer of those that cost much, and is no nearer to flow's for it. Quantiles and timeouts are
/// compared between the runs with the same losses.
namespace gradwire::bench {

/// Transfers of one run, and of `flow`'s with the same losses.
struct Pair {
  Times times;
  Times control;
};

/// What of a case's transfers is one figure, and which of them depend on each other.
enum class Grouping {
  kPooled,   ///< all are drawn from one distribution; a group is one chain of one run
  kByChain,  ///< each chain's mean is a figure of its own; a group is one run
  kByRun,    ///< one mean of all; chains of one run depend on each other: a group is one run
};

/// Transfers of many runs. Repeats of a chain in one run depend on each other.
class Sample {
 public:
  Sample(std::size_t chains, Grouping grouping)
      : grouping_(grouping), figures_(grouping == Grouping::kByChain ? chains : 1) {}

  void take(const Pair& run);
  /// Whether the mean (every chain's) is known to `wanted`, a share of it. Ten groups, or four
  /// where they differ by far less, 24 where a run is one; and enough runs and transfers that some
  /// hold a timeout: fewer may look sure by chance.
  bool knows(double wanted) const;
  /// Standard error of the mean as a share of it, given the controls' mean; of the chain whose is
  /// largest. Infinite before there are two groups.
  double error() const;
  const std::vector<double>& all() const { return all_; }
  const std::vector<double>& controls() const { return controls_; }
  /// Figures' means, by their own values alone; error() of each.
  std::vector<double> means() const;
  std::vector<double> errors() const;
  /// How much an error of the controls' mean, as a share of it, shows in means_given(), where that
  /// is most; 1 at least.
  double leverage() const;
  /// Means by what is known of the controls: another sample of theirs, without any of its own. By
  /// their differences, or by a slope where that tells more.
  struct Mean {
    double value = 0;
    /// A share of it: the standard error of its difference to the controls' mean. What is not known
    /// of that is in both, and cancels as far as the slope is 1.
    double error = 0;
  };
  std::vector<Mean> means_given(const Sample& of_controls) const;

 private:
  struct Figure {
    std::vector<double> groups;    ///< means
    std::vector<double> controls;  ///< means; empty: none
  };

  Grouping grouping_;
  int runs_ = 0;
  std::vector<double> all_;
  std::vector<double> controls_;
  std::vector<Figure> figures_;
};

/// One such case. Runs of the reference may be made in any order and side by side: they count in
/// the order of their seeds, and none after the one with which the mean is known, so that the
/// figures do not depend on who was first. Not thread-safe: run() alone may be called beside all
/// else.
class RandomCase {
 public:
  /// `c` must outlive this.
  RandomCase(const FidelityCase& c, std::string reference, Grouping grouping);

  /// Number of the next run to make.
  int begin() { return begun_++; }
  int begun() const { return begun_; }
  /// Makes it. Throws ReferenceFailure.
  Pair run(int number) const;
  /// It took so long, s. Nothing where the mean is known already.
  void end(int number, Pair run, double seconds);

  /// Whether the reference's mean is known, or no more runs are worth their while.
  bool known() const { return known_; }
  /// The reference's standard error, of those runs that count.
  double error() const { return reference_.error(); }
  int counted() const { return counted_; }

  /// Runs `flow`, too, and compares. Precondition: two runs or more.
  Comparison compare() const;

 private:
  const FidelityCase& c_;
  Experiment control_;
  std::string executor_;
  Grouping grouping_;
  Sample reference_;
  std::map<int, Pair> early_;  ///< ended before one with a smaller number
  int begun_ = 0;
  int counted_ = 0;
  double spent_ = 0;
  bool known_ = false;
};

}  // namespace gradwire::bench
