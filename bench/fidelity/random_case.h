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
/// (ExecutorOptions::losses_by_channel). What it takes then is a control variate (statistics.h):
/// its mean is known from runs of its own, which cost little, so that the reference's is known from
/// far fewer of those that cost much, and is no nearer to flow's for it. Quantiles and timeouts are
/// compared between the runs with the same losses.
namespace gradwire::bench {

/// Transfers of one run, and of `flow`'s with the same losses (empty: none).
struct Pair {
  Times times;
  Times control;
};

/// Transfers of many runs. A group is one chain of one run: repeats of it depend on each other.
class Sample {
 public:
  /// `by_chain`: each chain's mean is a figure of its own; else all are drawn from one
  /// distribution.
  Sample(std::size_t chains, bool by_chain)
      : by_chain_(by_chain), figures_(by_chain ? chains : 1) {}

  void take(const Pair& run);
  /// Whether the mean (every chain's) is known to `wanted`, a share of it. Ten groups, or four
  /// where they differ by far less; and enough runs and transfers that some hold a timeout: fewer
  /// may look sure by chance.
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
  /// Means by what is known of the controls: another sample of theirs, without any of its own.
  struct Mean {
    double value = 0;
    double error = 0;  ///< a share of it
  };
  std::vector<Mean> means_given(const Sample& of_controls) const;

 private:
  struct Figure {
    std::vector<double> groups;    ///< means
    std::vector<double> controls;  ///< means; empty: none
  };

  bool by_chain_;
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
  RandomCase(const FidelityCase& c, std::string reference, bool by_chain);

  /// Number of the next run to make.
  int begin() { return begun_++; }
  int begun() const { return begun_; }
  /// Makes it.
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
  bool by_chain_;
  Sample reference_;
  std::map<int, Pair> early_;  ///< ended before one with a smaller number
  int begun_ = 0;
  int counted_ = 0;
  double spent_ = 0;
  bool known_ = false;
};

}  // namespace gradwire::bench
