#include "bench/measured/judged.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "bench/fidelity/statistics.h"
#include "results/prediction/constant.h"
#include "results/statistics/student_t.h"

namespace gradwire::bench {
namespace {

using Rows = std::vector<const FormRow*>;
using Groups = std::map<std::string, Rows>;
constexpr double kOfSeveral = 0.1;     // scatter of rows where several groups were fitted
constexpr double kLeastInBand = 0.02;  // that a band counts on: a program measured twice
constexpr double kUnknownSpread = 1.0 / 3;
constexpr std::size_t kPairsUpTo = 12;  // groups

Groups groups_of(std::span<const FormRow> rows) {
  Groups groups;
  for (const FormRow& row : rows) groups[row.group].push_back(&row);
  return groups;
}

Known from_priors(std::span<const results::Unknown> unknowns) {
  const std::size_t n = unknowns.size();
  Known known{{}, std::vector<double>(n * n), kOfSeveral / 2, 0};
  for (std::size_t i = 0; i < n; ++i) {
    known.values.push_back(unknowns[i].prior_mean);
    known.covariance[i * n + i] = unknowns[i].prior_deviation * unknowns[i].prior_deviation;
  }
  return known;
}

/// Of the rows that are known best.
double least_scatter_of(std::span<const FormRow* const> rows) {
  return (*std::ranges::min_element(rows, {},
                                    [](const FormRow* row) { return row->least_scatter; }))
      ->least_scatter;
}

/// Of one group's rows: their residuals' deviation, over the rows less the constants they decide.
void set_scatter(const results::LeastSquaresFit& fit, Known& known) {
  double squares = 0, left = static_cast<double>(fit.residuals.size());
  for (const double residual : fit.residuals) squares += residual * residual;
  for (const double share : fit.prior_share) left -= 1 - share;
  known.freedom = std::max(1, static_cast<int>(std::lround(left)));
  known.scatter = std::max(kLeastInBand, std::sqrt(squares / std::max(1.0, left)));
}

/// Half of a 90 % interval, in deviations.
double half_of_90(const Known& known) {
  return known.freedom ? results::student_quantile(0.95, known.freedom) : results::kNormal90;
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

/// All rows but those of one or two groups.
Rows without(const Groups& groups, const std::string& one, const std::string& other) {
  Rows rows;
  for (const auto& [name, members] : groups)
    if (name != one && name != other) rows.insert(rows.end(), members.begin(), members.end());
  return rows;
}

/// From the mean squares of what others lie from what the rest of them says.
double spread_of(const std::vector<double>& squares) {
  return squares.size() < 3 ? kUnknownSpread : std::sqrt(mean_of(squares));
}

/// By group: how far the others lie from what the rest of them says.
std::map<std::string, double> spreads_of_pairs(const Groups& groups,
                                               std::span<const results::Unknown> unknowns) {
  std::map<std::string, std::vector<double>> squares;
  const auto add = [&](const std::string& left_out, double offset) {
    squares[left_out].push_back(offset * offset);
  };
  for (auto one = groups.begin(); one != groups.end(); ++one)
    for (auto other = std::next(one); other != groups.end(); ++other) {
      const Known known = known_from(without(groups, one->first, other->first), unknowns);
      add(one->first, offset_of(other->second, known));
      add(other->first, offset_of(one->second, known));
    }
  std::map<std::string, double> spreads;
  for (const auto& [name, members] : groups) spreads[name] = spread_of(squares[name]);
  return spreads;
}

/// By group, from each of the others left out alone. `without_it`: constants without each.
std::map<std::string, double> spreads_of_singles(const Groups& groups,
                                                 const std::map<std::string, Known>& without_it) {
  std::map<std::string, double> squares;
  for (const auto& [name, members] : groups)
    squares[name] = std::pow(offset_of(members, without_it.at(name)), 2);
  std::map<std::string, double> spreads;
  for (const auto& [name, members] : groups) {
    std::vector<double> others;
    for (const auto& [other, square] : squares)
      if (other != name) others.push_back(square);
    spreads[name] = spread_of(others);
  }
  return spreads;
}

/// Which of a group's rows give constants; chars, as a vector of bools has no elements to swap.
std::vector<char> drawn(const Rows& rows, std::mt19937_64& random) {
  const auto workers = [](const FormRow* row) { return row->workers; };
  const auto [least, most] = std::ranges::minmax(rows, {}, workers);
  std::vector<char> chosen(rows.size());
  if (rows.size() < 8 && least->workers < most->workers) {
    std::ranges::transform(rows, chosen.begin(),
                           [&](const FormRow* row) { return row->workers == least->workers; });
    return chosen;
  }
  std::fill_n(chosen.begin(), (rows.size() + 1) / 2, true);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[random() % i]);
  return chosen;
}

}  // namespace

std::map<std::string, std::vector<const JudgedRow*>> by_group(std::span<const JudgedRow> judged) {
  std::map<std::string, std::vector<const JudgedRow*>> groups;
  for (const JudgedRow& row : judged) groups[row.group].push_back(&row);
  return groups;
}

GroupErrors errors_of(std::span<const JudgedRow* const> group) {
  GroupErrors all;
  all.worst = group.front();
  std::vector<double> errors;
  for (const JudgedRow* row : group) {
    errors.push_back(std::abs(row->error()));
    if (errors.back() > std::abs(all.worst->error())) all.worst = row;
    all.inside += row->inside();
  }
  all.median = median_of(std::move(errors));
  all.inside /= static_cast<double>(group.size());
  return all;
}

Known known_from(std::span<const FormRow* const> fitted,
                 std::span<const results::Unknown> unknowns) {
  if (fitted.empty()) return from_priors(unknowns);
  const double least = least_scatter_of(fitted);
  std::map<std::string, double> members;
  for (const FormRow* row : fitted) ++members[row->group];
  const bool several = members.size() > 1;
  std::vector<double> weights;
  for (const FormRow* row : fitted)
    weights.push_back(several ? least / kUnknownSpread / std::sqrt(members[row->group]) : 1);
  const auto residuals = [&](std::span<const double> values, std::span<double> out) {
    for (std::size_t i = 0; i < fitted.size(); ++i)
      out[i] = weights[i] * std::log(fitted[i]->time(values) / fitted[i]->measured);
  };
  const results::LeastSquaresFit fit =
      results::fit_least_squares(unknowns, fitted.size(), residuals, {.least_scale = least});
  Known known{fit.values, fit.covariance, kOfSeveral, 0};
  if (!several) set_scatter(fit, known);
  return known;
}

Known known_with_levels(std::span<const FormRow* const> fitted,
                        std::span<const results::Unknown> unknowns) {
  if (fitted.empty()) return from_priors(unknowns);
  const std::size_t constants = unknowns.size();
  std::vector<results::Unknown> all(unknowns.begin(), unknowns.end());
  std::map<std::string, std::size_t> programs;  // group -> its unknown
  for (const FormRow* row : fitted) programs.emplace(row->group, 0);
  for (auto& [name, place] : programs) {
    place = all.size();
    all.push_back({name, 0, 0, kUnknownSpread});
  }
  const auto residuals = [&](std::span<const double> values, std::span<double> out) {
    for (std::size_t i = 0; i < fitted.size(); ++i)
      out[i] = std::log(fitted[i]->time(values.first(constants)) / fitted[i]->measured) +
               values[programs.at(fitted[i]->group)];
  };
  const results::LeastSquaresFit fit = results::fit_least_squares(
      all, fitted.size(), residuals, {.least_scale = least_scatter_of(fitted)});
  Known known;
  known.values.assign(fit.values.begin(),
                      fit.values.begin() + static_cast<std::ptrdiff_t>(constants));
  for (std::size_t i = 0; i < constants; ++i)
    for (std::size_t j = 0; j < constants; ++j)
      known.covariance.push_back(fit.covariance[i * all.size() + j]);
  set_scatter(fit, known);
  return known;
}

double offset_of(std::span<const FormRow* const> rows, const Known& known) {
  std::vector<double> offsets;
  for (const FormRow* row : rows)
    offsets.push_back(std::log(row->time(known.values) / row->measured));
  return median_of(std::move(offsets));
}

namespace {

std::vector<JudgedRow> judge_by(const Known& known, std::span<const FormRow* const> judged,
                                double between) {
  std::vector<JudgedRow> rows;
  for (const FormRow* row : judged) {
    const double predicted = row->time(known.values);
    const double width =
        half_of_90(known) *
        std::sqrt(variance_of(*row, known) + known.scatter * known.scatter + between * between);
    rows.push_back({row->group, row->label, row->measured, predicted, predicted * std::exp(-width),
                    predicted * std::exp(width)});
  }
  return rows;
}

}  // namespace

std::vector<JudgedRow> judge_rows(std::span<const FormRow* const> fitted,
                                  std::span<const FormRow* const> judged,
                                  std::span<const results::Unknown> unknowns, double between) {
  return judge_by(known_from(fitted, unknowns), judged, between);
}

std::vector<JudgedRow> judge_halves(std::span<const FormRow> rows,
                                    std::span<const results::Unknown> unknowns,
                                    std::uint64_t seed) {
  std::vector<JudgedRow> all;
  std::mt19937_64 random(seed);
  for (const auto& [name, members] : groups_of(rows)) {
    const std::vector<char> chosen = drawn(members, random);
    Rows fitted, judged;
    for (std::size_t i = 0; i < members.size(); ++i)
      (chosen[i] ? fitted : judged).push_back(members[i]);
    const auto some = judge_rows(fitted, judged, unknowns, 0);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<JudgedRow> judge_strangers(std::span<const FormRow> rows,
                                       std::span<const results::Unknown> unknowns,
                                       std::span<const FormRow> others, const Progress& progress) {
  std::vector<JudgedRow> all;
  const Groups judged = groups_of(rows);
  Groups groups = judged;
  groups.merge(groups_of(others));
  const bool pairs = groups.size() <= kPairsUpTo;
  std::map<std::string, Known> without_it;
  std::vector<results::Unknown> near(unknowns.begin(), unknowns.end());
  if (!pairs) {  // one group less moves little: begin where all rows lead
    const Known common = known_from(without(groups, "", ""), unknowns);
    for (std::size_t i = 0; i < near.size(); ++i) near[i].start = common.values[i];
  }
  for (const auto& [name, members] : pairs ? judged : groups) {
    without_it[name] = known_from(without(groups, name, name), near);
    if (progress) progress(without_it.size(), pairs ? judged.size() : groups.size());
  }
  const auto spreads =
      pairs ? spreads_of_pairs(groups, unknowns) : spreads_of_singles(groups, without_it);
  for (const auto& [name, members] : judged) {
    const auto some = judge_by(without_it.at(name), members, spreads.at(name));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace gradwire::bench
