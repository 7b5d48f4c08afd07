#include <algorithm>
#include <cmath>
#include <map>

#include "results/recipes/recipe.h"

namespace gradwire::results {
namespace {

/// Each worker's bytes over the time in which its transfers were under way, bit/s.
std::map<int, double> rates_of(const std::vector<TimelineSegment>& segments, int workers) {
  std::map<int, std::pair<double, double>> sums;  // bytes, seconds
  for (const TimelineSegment& segment : segments) {
    if (segment.lane != kTransferLane || segment.bytes <= 0) continue;
    if (segment.worker < 0 || segment.worker >= workers || segment.end_s <= segment.start_s)
      continue;
    sums[segment.worker].first += static_cast<double>(segment.bytes);
    sums[segment.worker].second += segment.end_s - segment.start_s;
  }
  std::map<int, double> rates;
  for (const auto& [worker, sum] : sums) rates[worker] = 8 * sum.first / sum.second;
  return rates;
}

/// (sum x)^2 / (n sum x^2): 1 = all alike, 1 / n = one has everything (R. Jain, D. Chiu, W. Hawe,
/// DEC-TR-301, 1984).
double jain(const std::map<int, double>& rates) {
  double sum = 0, squares = 0;
  for (const auto& [worker, rate] : rates) {
    sum += rate;
    squares += rate * rate;
  }
  return sum * sum / (static_cast<double>(rates.size()) * squares);
}

std::string add_fairness(const RecipeRuns& runs, RecipeAnswer& answer) {
  std::string worst;
  double least = 2;
  for (const ReportGroup& group : runs.data.groups) {
    const auto rates = rates_of(runs.store.timeline(first_run(group)), header_of(group).workers);
    if (rates.size() < 2) continue;
    const auto by_rate = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [slow, fast] = std::ranges::minmax_element(rates, by_rate);
    double mean = 0;
    for (const auto& [worker, rate] : rates) mean += rate / static_cast<double>(rates.size());
    const double index = jain(rates);
    const std::string name = name_in_workload(runs.data, group);
    answer.table.rows.push_back({runs.workload, name, static_cast<double>(first_run(group)),
                                 static_cast<double>(rates.size()), index, mean,
                                 static_cast<double>(slow->first), slow->second,
                                 static_cast<double>(fast->first), fast->second});
    if (index >= least) continue;
    least = index;
    worst = name;
  }
  if (worst.empty()) return "no timeline shows transfers of two workers or more";
  answer.sentences.push_back(runs.workload + ": workers' rates are least alike with " + worst +
                             ", where Jain's index is " + format_value(least, Quantity::kPlain) +
                             " (1 = all alike).");
  return "";
}

}  // namespace

Recipe fairness_recipe() {
  using Kind = DataColumn::Kind;
  return {"fairness",
          "Do workers get equal shares of the network?",
          "Of the timeline of each group's first run. A worker's rate: bytes that it sent over the "
          "time in which those transfers were under way, waiting for others in a collective "
          "included. Jain's index: (sum of rates)^2 / (workers x sum of their squares).",
          "run on two workers or more: timelines are kept of the first steps of every run",
          {{"workload", "workload", Quantity::kPlain, Kind::kText},
           {"runs", "runs", Quantity::kPlain, Kind::kText},
           {"run", "run", Quantity::kCount},
           {"workers", "workers", Quantity::kCount},
           {"jain_index", "Jain's index", Quantity::kPlain},
           {"mean_bps", "mean rate", Quantity::kBitRate},
           {"slowest_worker", "slowest", Quantity::kCount},
           {"slowest_bps", "its rate", Quantity::kBitRate},
           {"fastest_worker", "fastest", Quantity::kCount},
           {"fastest_bps", "its rate", Quantity::kBitRate}},
          add_fairness};
}

}  // namespace gradwire::results
