#include "results/scalability/costs.h"

#include <algorithm>
#include <map>
#include <set>

#include "results/scalability/figures.h"

namespace gradwire::results {
namespace {

constexpr double kMillion = 1e6;

/// Steps of an epoch on that many workers; without one, of a million samples.
double steps_of(const Scalability& all, std::size_t series, int workers) {
  const double samples = all.data.series[series].samples;
  return all.options.costs.epoch_samples > 0
             ? steps_per_epoch(all.options.costs.epoch_samples, workers, samples)
             : kMillion / (workers * samples);
}

CostRow cost_row(const Scalability& all, std::size_t series, int workers) {
  const ScaleAnswer answer = *all.answer(series, workers);
  const StepSummary step = all.predicted(series, workers).step;
  const double steps = steps_of(all, series, workers);
  StepCost cost = cost_of_step(step, answer.seconds, all.options.costs.prices);
  cost.compute *= steps;
  cost.ports *= steps;
  cost.traffic *= steps;
  return {series, workers, steps * answer.seconds / 3600, cost, false, answer.known};
}

std::string time_of(const CostRow& row) {
  const double minutes = 60 * row.hours;
  if (minutes < 1) return format_value(60 * minutes, Quantity::kSeconds);
  char text[40];
  std::snprintf(text, sizeof text, minutes < 120 ? "%.3g min" : "%.3g h",
                minutes < 120 ? minutes : row.hours);
  return text;
}

std::string period_words(const CostOptions& options) {
  return options.epoch_samples > 0 ? "an epoch" : "a million samples";
}

/// Series that lose too much accuracy are no choice.
void mark_front(const Scalability& all, std::vector<CostRow>& rows) {
  std::vector<PricedPlan> plans;
  std::vector<CostRow*> counted;
  for (CostRow& row : rows) {
    if (!all.evidence[row.series].may_be_recommended()) continue;
    plans.push_back({row.hours, row.cost.total()});
    counted.push_back(&row);
  }
  for (const std::size_t i : cheapest_front(plans)) counted[i]->on_front = true;
}

}  // namespace

std::vector<CostRow> cost_rows(const Scalability& all) {
  std::vector<CostRow> rows;
  if (!all.options.costs.prices.any()) return rows;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    if (all.model(i) && all.data.series[i].samples > 0)
      for (const int workers : shown_workers(all, i)) rows.push_back(cost_row(all, i, workers));
  mark_front(all, rows);
  return rows;
}

HtmlTable cost_table(const Scalability& all, const std::vector<CostRow>& rows) {
  HtmlTable table = {{"workers"}};
  std::map<int, std::map<std::size_t, const CostRow*>> by_workers;
  std::set<std::size_t> series;
  for (const CostRow& row : rows) {
    by_workers[row.workers][row.series] = &row;
    series.insert(row.series);
  }
  for (const std::size_t i : series) table[0].push_back(all.data.series[i].name);
  for (const auto& [workers, cells] : by_workers) {
    table.push_back({std::to_string(workers)});
    for (const std::size_t i : series) {
      const auto cell = cells.find(i);
      table.back().push_back(cell == cells.end()
                                 ? "-"
                                 : money(cell->second->cost.total(), all.options.costs.currency) +
                                       " in " + time_of(*cell->second));
    }
  }
  return table;
}

HtmlTable front_table(const Scalability& all, const std::vector<CostRow>& rows) {
  HtmlTable table = {
      {"series", "workers", "time", "GPUs", "ports", "traffic", "together", "step time"}};
  std::vector<CostRow> front;
  std::ranges::copy_if(rows, std::back_inserter(front), &CostRow::on_front);
  std::ranges::sort(front, {}, &CostRow::hours);
  for (const CostRow& row : front)
    table.push_back({all.data.series[row.series].name, std::to_string(row.workers), time_of(row),
                     money(row.cost.compute, ""), money(row.cost.ports, ""),
                     money(row.cost.traffic, ""),
                     money(row.cost.total(), all.options.costs.currency),
                     row.known                                  ? "of runs"
                     : all.within_runs(row.series, row.workers) ? "predicted"
                                                                : "extrapolated"});
  return table;
}

std::string money(double value, const std::string& currency) {
  const int decimals = value >= 1000 ? 0 : value >= 0.01 || value == 0 ? 2 : 4;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return currency.empty() ? text : std::string(text) + " " + currency;
}

std::string price_words(const CostOptions& options) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, double price) {
    if (price > 0) parts.push_back(what + money(price, options.currency));
  };
  add("a GPU hour at ", options.prices.gpu_hour);
  add("a network port an hour at ", options.prices.port_hour);
  add("a GB that is sent at ", options.prices.gigabyte);
  if (options.prices.port_hour > 0) {
    char ports[40];
    std::snprintf(ports, sizeof ports, "%g ports a worker", options.prices.ports_per_worker);
    parts.push_back(ports);
  }
  std::string text = "Costs of " + period_words(options) + " with " + in_words(parts);
  if (options.epoch_samples > 0)
    text +=
        "; an epoch is of " + format_value(options.epoch_samples, Quantity::kCount) + " samples";
  return text + " (assumed: given for this report or in its scenario).";
}

}  // namespace gradwire::results
