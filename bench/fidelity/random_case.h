#pragma once
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bench/fidelity/comparison.h"
#include "bench/fidelity/regimes.h"

/// Cases whose transfers are drawn: what many runs of the reference say of their means and
/// quantiles, and how surely.
namespace gradwire::bench {

/// Transfers of many runs. A group is one chain of one run: repeats of it depend on each other.
class Sample {
 public:
  /// `by_chain`: each chain's mean is a figure of its own; else all are drawn from one
  /// distribution.
  Sample(std::size_t chains, bool by_chain) : by_chain_(by_chain), groups_(by_chain ? chains : 1) {}

  void take(const Times& times);
  /// Whether the mean (every chain's) is known to `wanted`, a share of it. Ten groups, or four
  /// where they differ by far less, and enough transfers that some hold a timeout: fewer may look
  /// sure by chance.
  bool knows(double wanted) const;
  /// Standard error of the mean as a share of it; of the chain whose is largest. Infinite before
  /// there are two groups.
  double error() const;
  const std::vector<double>& all() const { return all_; }
  std::vector<double> chain_means() const;
  /// Share of transfers longer than `time`.
  double share_above(double time) const;

 private:
  bool by_chain_;
  std::vector<double> all_;
  std::vector<std::vector<double>> groups_;  ///< means, by figure
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
  Times run(int number) const;
  /// It took so long, s. Nothing where the mean is known already.
  void end(int number, Times times, double seconds);

  /// Whether the reference's mean is known, or no more runs are worth their while.
  bool known() const { return known_; }
  /// The reference's standard error, of those runs that count.
  double error() const { return reference_.error(); }
  int counted() const { return counted_; }

  /// Runs `flow`, too, and compares. Precondition: two runs or more.
  Comparison compare() const;

 private:
  const FidelityCase& c_;
  std::string executor_;
  bool by_chain_;
  Sample reference_;
  std::map<int, Times> early_;  ///< ended before one with a smaller number
  int begun_ = 0;
  int counted_ = 0;
  double spent_ = 0;
  bool known_ = false;
};

}  // namespace gradwire::bench
