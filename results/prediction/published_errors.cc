#include "results/prediction/published_errors.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "results/export/csv.h"
#include "results/runs/scenario_view.h"
#include "results/statistics/percent.h"

namespace gradwire::results {
namespace {

constexpr double kMostRows = 1e9;

int count_of(const CsvTable& table, std::size_t row, const char* column) {
  const double value = table.positive(row, column);
  if (value != std::floor(value) || value > kMostRows) table.refuse(row, column, "it is no count");
  return static_cast<int>(value);
}

/// In percent; 0 is one, and an empty cell is none.
double percent_of(const CsvTable& table, std::size_t row, const char* column) {
  double value = 0;
  if (!number_from(table.text(row, column), value) || !std::isfinite(value) || value < 0)
    table.refuse(row, column, "it is no percentage");
  return value / 100;
}

PublishedErrors errors_of(const CsvTable& table, std::size_t row) {
  PublishedErrors one;
  one.source = table.text(row, "source");
  one.workload = table.text(row, "workload");
  one.family = table.text(row, "family");
  one.device = table.text(row, "device");
  for (const char* column : {"source", "workload", "family", "device"})
    if (table.text(row, column).empty()) table.refuse(row, column, "it is empty");
  one.least_workers = count_of(table, row, "least_workers");
  one.most_workers = count_of(table, row, "most_workers");
  one.rows = count_of(table, row, "rows");
  one.median = percent_of(table, row, "median");
  one.worst = percent_of(table, row, "worst");
  one.inside = percent_of(table, row, "inside");
  if (one.inside > 1) table.refuse(row, "inside", "it is above 100 %");
  return one;
}

std::string whole_percent(double share) {
  return percent_by("%.0f", share);
}

std::string range_of(const PublishedErrors& one) {
  if (one.least_workers == one.most_workers) return std::to_string(one.most_workers);
  return std::to_string(one.least_workers) + " to " + std::to_string(one.most_workers);
}

std::string clause_of(const PublishedErrors& one) {
  return one.workload + " on " + one.device + " (" + one.source + ", " + std::to_string(one.rows) +
         " steps of " + range_of(one) + " GPUs) is predicted to " + whole_percent(one.median) +
         " in the median, " + whole_percent(one.worst) + " at worst, with " +
         whole_percent(one.inside) + " of the steps inside their 90 % range";
}

/// The fewest differences from the question, the most important first; of equal ones, most rows.
template <class Order>
const PublishedErrors* least(const std::vector<PublishedErrors>& all, Order&& order) {
  const PublishedErrors* nearest = nullptr;
  for (const PublishedErrors& one : all)
    if (one.family != "collective" && (!nearest || order(one) < order(*nearest))) nearest = &one;
  return nearest;
}

}  // namespace

std::vector<PublishedErrors> read_published_errors(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"source", "workload", "family", "device", "least_workers", "most_workers", "rows",
                "median", "worst", "inside"},
               {});
  std::vector<PublishedErrors> all;
  for (std::size_t i = 0; i < table.rows(); ++i) all.push_back(errors_of(table, i));
  return all;
}

std::vector<PublishedErrors> nearest_published(const std::vector<PublishedErrors>& all,
                                               const PredictionQuestion& question) {
  if (question.device.empty()) return {};
  const auto differs = [&](const PublishedErrors& one) {
    return std::tuple(one.family != question.family, one.device != question.device,
                      one.workload != question.model);
  };
  const PublishedErrors* alike = least(all, [&](const PublishedErrors& one) {
    return std::tuple_cat(differs(one), std::tuple(-one.rows));
  });
  const PublishedErrors* there = least(all, [&](const PublishedErrors& one) {
    const auto [family, device, workload] = differs(one);
    return std::tuple(device, family, workload, -one.rows);
  });
  std::vector<PublishedErrors> nearest;
  if (alike && alike->family == question.family) nearest.push_back(*alike);
  if (there && there->device == question.device && (nearest.empty() || there != alike))
    nearest.push_back(*there);
  if (nearest.empty() && alike) nearest.push_back(*alike);
  return nearest;
}

std::string published_errors_words(const std::vector<PublishedErrors>& nearest,
                                   const PredictionQuestion& question) {
  if (nearest.empty()) return {};
  std::string words = "Compute times come from the profile of " + question.device +
                      ". Of steps that others measured, predicted without any figure of theirs, "
                      "the nearest: ";
  for (std::size_t i = 0; i < nearest.size(); ++i) words += (i ? "; " : "") + clause_of(nearest[i]);
  words += ".";
  const auto same = [&](std::string PublishedErrors::*member, const std::string& value) {
    return std::ranges::any_of(nearest, [&](const auto& one) { return one.*member == value; });
  };
  std::string lacking;
  if (!same(&PublishedErrors::device, question.device)) lacking = "this device";
  if (!same(&PublishedErrors::family, question.family))
    lacking += (lacking.empty() ? "" : " or ") + std::string("this kind of network");
  if (!lacking.empty()) words += " None of them is of " + lacking + ": expect more.";
  return words;
}

}  // namespace gradwire::results
