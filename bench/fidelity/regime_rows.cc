#include "bench/fidelity/regime_rows.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "bench/fidelity/statistics.h"

namespace gradwire::bench {
namespace {

std::vector<double> all_errors(const Comparisons& results) {
  std::vector<double> errors;
  for (const Comparison& c : results) errors.insert(errors.end(), c.errors.begin(), c.errors.end());
  return errors;
}

/// The largest error; one whose difference is at most `allowance(case)` seconds counts as none.
double worst(const Comparisons& results,
             const std::function<double(const Comparison&)>& allowance) {
  double largest = 0;
  for (const Comparison& c : results)
    for (std::size_t i = 0; i < c.errors.size(); ++i)
      if (c.differences[i] > allowance(c)) largest = std::max(largest, c.errors[i]);
  return largest;
}

/// ... where the allowance comes off every difference.
double worst_beyond(const Comparisons& results) {
  double largest = 0;
  for (const Comparison& c : results)
    for (std::size_t i = 0; i < c.errors.size(); ++i) {
      const double reference = c.differences[i] / std::max(c.errors[i], 1e-300);
      largest = std::max(largest, (c.differences[i] - c.round_trip) / reference);
    }
  return largest;
}

std::vector<double> each(const Comparisons& results, double Comparison::*field) {
  std::vector<double> values;
  for (const Comparison& c : results) values.push_back(c.*field);
  return values;
}

void add_row(std::vector<BenchRow>& rows, std::string name, double value, double bar) {
  rows.push_back({.name = std::move(name), .value = value, .unit = "1", .bar = bar});
}

void random_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const auto errors = each(results, &Comparison::reference_error);
  add_row(rows, name + ".reference_standard_error", *std::max_element(errors.begin(), errors.end()),
          0.03);
}

/// max(a / b, b / a), of shares of timeouts over all cases.
double timeout_factor(const Comparisons& results) {
  const double a = mean_of(each(results, &Comparison::timeouts));
  const double b = mean_of(each(results, &Comparison::timeouts_flow));
  return a <= 0 && b <= 0 ? 1 : std::max(a / b, b / a);
}

}  // namespace

void clean_lan_rows(const std::string& name, const Comparisons& results,
                    std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.005);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 100e-6; }), 0.03);
}

void sharing_rows(const std::string& name, const Comparisons& results,
                  std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  add_row(rows, name + ".worst_error_beyond_a_round_trip", worst_beyond(results), 0.03);
}

void bbr_sharing_rows(const std::string& name, const Comparisons& results,
                      std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  rows.push_back({.name = name + ".worst_error_beyond_a_round_trip",
                  .value = worst_beyond(results),
                  .unit = "1"});
}

void clean_wan_rows(const std::string& name, const Comparisons& results,
                    std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.01);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 0.0; }), 0.05);
}

void lossy_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const std::vector<double> errors = all_errors(results);
  add_row(rows, name + ".median_error_of_mean", median_of(errors), 0.05);
  add_row(rows, name + ".p90_error_of_mean", quantile_of(errors, 0.9), 0.15);
  add_row(rows, name + ".median_error_of_q50", median_of(each(results, &Comparison::quantile_50)),
          0.05);
  add_row(rows, name + ".median_error_of_q90", median_of(each(results, &Comparison::quantile_90)),
          0.10);
  random_rows(name, results, rows);
}

void short_lossy_rows(const std::string& name, const Comparisons& results,
                      std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error_of_q50", median_of(each(results, &Comparison::quantile_50)),
          0.10);
  add_row(rows, name + ".timeout_probability_factor", timeout_factor(results), 1.5);
  random_rows(name, results, rows);
}

void mixed_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const std::vector<double> errors = all_errors(results);
  add_row(rows, name + ".median_error", median_of(errors), 0.10);
  add_row(rows, name + ".p90_error", quantile_of(errors, 0.9), 0.25);
  random_rows(name, results, rows);
}

void mobile_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.10);
}

void cell_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.15);
}

void mean_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  const std::vector<double> errors = all_errors(results);
  add_row(rows, name + ".median_error_of_mean", median_of(errors), 0.05);
  add_row(rows, name + ".p90_error_of_mean", quantile_of(errors, 0.9), 0.15);
  random_rows(name, results, rows);
}

void changing_rows(const std::string& name, const Comparisons& results,
                   std::vector<BenchRow>& rows) {
  add_row(rows, name + ".median_error", median_of(all_errors(results)), 0.03);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 0.0; }), 0.10);
}

void exact_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  double figures = 0, within = 0, near = 0;
  for (const Comparison& c : results)
    for (std::size_t i = 0; i < c.errors.size(); ++i) {
      ++figures;
      within += c.differences[i] <= 1e-6;
      near += c.errors[i] <= 1e-3;
    }
  const auto add_share = [&](const char* what, double share, double bar) {
    rows.push_back(
        {.name = name + what, .value = share, .unit = "1", .bar = bar, .at_most = false});
  };
  add_share(".within_a_microsecond", within / figures, 0.8);
  add_share(".within_a_thousandth", near / figures, 0.95);
  add_row(rows, name + ".worst_error", worst(results, [](const auto&) { return 0.0; }), 0.03);
}

void large_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  for (const bool lossy : {false, true}) {
    Comparisons of_kind;
    std::ranges::copy_if(results, std::back_inserter(of_kind),
                         [&](const Comparison& c) { return c.is_lossy == lossy; });
    if (of_kind.empty()) continue;
    const std::vector<double> errors = all_errors(of_kind);
    const std::string kind = name + (lossy ? ".lossy" : ".clean");
    add_row(rows, kind + ".median_error", median_of(errors), lossy ? 0.10 : 0.03);
    add_row(rows, kind + ".p90_error", quantile_of(errors, 0.9), 0.25);
  }
}

void burst_rows(const std::string& name, const Comparisons& results, std::vector<BenchRow>& rows) {
  changing_rows(name, results, rows);
  random_rows(name, results, rows);
}

}  // namespace gradwire::bench
