#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/prediction/least_squares.h"

/// A form's constants fitted to some rows of tables, and held against others.
namespace gradwire::bench {

/// A row and its form. Seconds.
struct FormRow {
  std::string group;  ///< source, workload and device: rows that one program gave
  std::string label;  ///< what tells it from others of its group
  std::string device;
  int workers = 1;
  double measured = 0;
  std::function<double(std::span<const double> logarithms)> time;
  /// What the form leaves of such rows at least (deviation of the logarithm): a row counts as no
  /// better known in a fit, so that priors keep their weight however well few rows can be met.
  double least_scatter = 0.05;
};

struct JudgedRow {
  std::string group, label;
  double measured = 0, predicted = 0;
  double low = 0, high = 0;  ///< nine of ten lie between, if the form is right
  double error() const { return predicted / measured - 1; }
  bool inside() const { return low <= measured && measured <= high; }
};

/// The rows of each group.
std::map<std::string, std::vector<const JudgedRow*>> by_group(std::span<const JudgedRow> judged);

/// Of fewer rows nine in ten are no whole number, and all or two less say the same.
inline constexpr int kRowsForCoverage = 20;

struct GroupErrors {
  double median = 0;                 ///< of the errors' absolute values
  const JudgedRow* worst = nullptr;  ///< the first with the largest
  double inside = 0;                 ///< share of the rows inside their band
};
/// Precondition: not empty.
GroupErrors errors_of(std::span<const JudgedRow* const> group);

/// Logarithms of constants, and how well they are known.
struct Known {
  std::vector<double> values;
  std::vector<double> covariance;  ///< [unknowns][unknowns]
  double scatter = 0;              ///< deviation of the logarithm of a row's time
  /// Rows less the constants that they decide: of Student's t. 0 = a normal law.
  int freedom = 0;
};

/// Fitted to rows; from the priors where there are none. Of several groups, all rows of one weigh
/// as much as one row that is known to a third: they share what is particular to their program.
Known known_from(std::span<const FormRow* const> fitted,
                 std::span<const results::Unknown> unknowns);
/// The same, where each group has a level of its own, within a third of what the constants say:
/// they are those of a program in the middle, and the rows of each tell how times change with
/// shapes.
Known known_with_levels(std::span<const FormRow* const> fitted,
                        std::span<const results::Unknown> unknowns);
/// Median of the logarithms of predicted over measured.
double offset_of(std::span<const FormRow* const> rows, const Known& known);

/// The judged rows with constants from `fitted` and, where that is empty, from the priors. The band
/// is a predictive interval of three parts: what the fit leaves open of the constants, the scatter
/// of the rows that were fitted (0.02 at least), and `between`, the deviation (of the logarithm) of
/// one program from another on the same device. Where one group was fitted, it is Student's with
/// as many degrees of freedom as there are rows less the constants that they decide, each counted
/// by what its prior does not.
std::vector<JudgedRow> judge_rows(std::span<const FormRow* const> fitted,
                                  std::span<const FormRow* const> judged,
                                  std::span<const results::Unknown> unknowns, double between);

/// For each group, the rows that were not drawn, with constants from half of its rows drawn by
/// `seed`; from those of fewest workers where it has fewer than 8 rows.
std::vector<JudgedRow> judge_halves(std::span<const FormRow> rows,
                                    std::span<const results::Unknown> unknowns, std::uint64_t seed);

/// For each group, all its rows with constants from the other groups. How far programs differ is
/// told by those other groups, each left out in turn; a third where there are fewer than three. Of
/// more than a dozen groups, which one group more or less does not move, each is left out alone
/// rather than every pair. `others`: rows that give constants, too, and are not judged; groups that
/// `rows` has are left out. `progress` is told now and then how many groups of how many are done.
using Progress = std::function<void(std::size_t done, std::size_t of)>;
std::vector<JudgedRow> judge_strangers(std::span<const FormRow> rows,
                                       std::span<const results::Unknown> unknowns,
                                       std::span<const FormRow> others = {},
                                       const Progress& progress = {});

}  // namespace gradwire::bench
