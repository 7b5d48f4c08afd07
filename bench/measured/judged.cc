#include "bench/measured/judged.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace gradwire::bench {
namespace {

using Rows = std::vector<const FormRow*>;
using Groups = std::map<std::string, Rows>;
constexpr double kNineOfTen = 1.645;  // deviations of a normal distribution
constexpr double kLeastScatter = 0.05;
constexpr double kUnknownSpread = 1.0 / 3;

Groups groups_of(std::span<const FormRow> rows) {
  Groups groups;
  for (const FormRow& row : rows) groups[row.group].push_back(&row);
  return groups;
}

/// Logarithms of constants, and how well they are known.
struct Known {
  std::vector<double> values;
  std::vector<double> covariance;  // [unknowns][unknowns]
  double scatter = kLeastScatter;
};

Known from_priors(std::span<const results::Unknown> unknowns) {
  const std::size_t n = unknowns.size();
  Known known{{}, std::vector<double>(n * n), kLeastScatter};
  for (std::size_t i = 0; i < n; ++i) {
    known.values.push_back(unknowns[i].prior_mean);
    known.covariance[i * n + i] = unknowns[i].prior_deviation * unknowns[i].prior_deviation;
  }
  return known;
}

/// Every row counts as known to kLeastScatter, so that priors keep their weight however well few
/// rows can be met. Of several groups, all rows of one weigh as much as one that is known to
/// kUnknownSpread: they share what is particular to their program.
Known known_from(std::span<const FormRow* const> fitted,
                 std::span<const results::Unknown> unknowns) {
  if (fitted.empty()) return from_priors(unknowns);
  std::map<std::string, double> members;
  for (const FormRow* row : fitted) ++members[row->group];
  const bool several = members.size() > 1;
  std::vector<double> weights;
  for (const FormRow* row : fitted)
    weights.push_back(several ? kLeastScatter / kUnknownSpread / std::sqrt(members[row->group])
                              : 1);
  const auto residuals = [&](std::span<const double> values, std::span<double> out) {
    for (std::size_t i = 0; i < fitted.size(); ++i)
      out[i] = weights[i] * std::log(fitted[i]->time(values) / fitted[i]->measured);
  };
  const results::LeastSquaresFit fit = results::fit_least_squares(
      unknowns, fitted.size(), residuals, {.least_scale = kLeastScatter});
  double squares = 0;
  for (const double residual : fit.residuals) squares += residual * residual;
  return {fit.values, fit.covariance,
          several
              ? 2 * kLeastScatter
              : std::max(kLeastScatter, std::sqrt(squares / static_cast<double>(fitted.size())))};
}

/// Variance of the predicted logarithm that the constants bring: g' C g.
double variance_of(const FormRow& row, const Known& known) {
  constexpr double kStep = 1e-4;
  const std::size_t n = known.values.size();
  std::vector<double> gradient(n), at = known.values;
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = known.values[i] + kStep;
    const double above = std::log(row.time(at));
    at[i] = known.values[i] - kStep;
    gradient[i] = (above - std::log(row.time(at))) / (2 * kStep);
    at[i] = known.values[i];
  }
  double variance = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      variance += gradient[i] * known.covariance[i * n + j] * gradient[j];
  return variance;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// All rows but those of one or two groups.
Rows without(const Groups& groups, const std::string& one, const std::string& other) {
  Rows rows;
  for (const auto& [name, members] : groups)
    if (name != one && name != other) rows.insert(rows.end(), members.begin(), members.end());
  return rows;
}

double spread_without(const Groups& groups, const std::string& left_out,
                      std::span<const results::Unknown> unknowns) {
  double squares = 0;
  int count = 0;
  for (const auto& [name, members] : groups) {
    if (name == left_out) continue;
    std::vector<double> offsets;
    for (const JudgedRow& row : judge_rows(without(groups, left_out, name), members, unknowns, 0))
      offsets.push_back(std::log(row.predicted / row.measured));
    const double offset = median(offsets);
    squares += offset * offset;
    ++count;
  }
  return count < 3 ? kUnknownSpread : std::sqrt(squares / count);
}

/// Which of a group's rows give constants.
std::vector<bool> drawn(const Rows& rows, std::mt19937_64& random) {
  const auto fewest =
      std::ranges::min(rows, {}, [](const FormRow* row) { return row->workers; })->workers;
  std::vector<bool> chosen(rows.size());
  std::size_t smallest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) smallest += chosen[i] = rows[i]->workers == fewest;
  if (rows.size() < 8 && smallest < rows.size()) return chosen;
  chosen.assign(rows.size(), false);
  std::fill_n(chosen.begin(), (rows.size() + 1) / 2, true);
  for (std::size_t i = rows.size(); i > 1; --i) {
    const std::size_t j = random() % i;
    const bool moved = chosen[i - 1];
    chosen[i - 1] = chosen[j];
    chosen[j] = moved;
  }
  return chosen;
}

}  // namespace

std::vector<JudgedRow> judge_rows(std::span<const FormRow* const> fitted,
                                  std::span<const FormRow* const> judged,
                                  std::span<const results::Unknown> unknowns, double between) {
  const Known known = known_from(fitted, unknowns);
  std::vector<JudgedRow> rows;
  for (const FormRow* row : judged) {
    const double predicted = row->time(known.values);
    const double width = kNineOfTen * std::sqrt(variance_of(*row, known) +
                                                known.scatter * known.scatter + between * between);
    rows.push_back({row->group, row->label, row->measured, predicted, predicted * std::exp(-width),
                    predicted * std::exp(width)});
  }
  return rows;
}

std::vector<JudgedRow> judge_halves(std::span<const FormRow> rows,
                                    std::span<const results::Unknown> unknowns,
                                    std::uint64_t seed) {
  std::vector<JudgedRow> all;
  std::mt19937_64 random(seed);
  for (const auto& [name, members] : groups_of(rows)) {
    const std::vector<bool> chosen = drawn(members, random);
    Rows fitted, judged;
    for (std::size_t i = 0; i < members.size(); ++i)
      (chosen[i] ? fitted : judged).push_back(members[i]);
    const auto some = judge_rows(fitted, judged, unknowns, 0);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<JudgedRow> judge_strangers(std::span<const FormRow> rows,
                                       std::span<const results::Unknown> unknowns) {
  std::vector<JudgedRow> all;
  const Groups groups = groups_of(rows);
  for (const auto& [name, members] : groups) {
    const auto some = judge_rows(without(groups, name, name), members, unknowns,
                                 spread_without(groups, name, unknowns));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace gradwire::bench
