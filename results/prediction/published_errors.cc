#include "results/prediction/published_errors.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

#include "base/joined_texts.h"
#include "results/export/csv.h"
#include "results/prediction/device_kin.h"
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
  one.precision = table.text(row, "precision");
  for (const char* column : {"source", "workload", "family", "device", "precision"})
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
  const std::string gpus = range_of(one) == "1" ? "1 GPU" : range_of(one) + " GPUs";
  const std::string what = one.workload + " on " + one.device + " in " + one.precision + " (" +
                           one.source + ", " + std::to_string(one.rows) +
                           (one.rows == 1 ? " step of " : " steps of ") + gpus +
                           ") is predicted to " + whole_percent(one.median);
  if (one.rows == 1) return what + (one.inside > 0 ? ", inside" : ", outside") + " its 90 % range";
  return what + " in the median, " + whole_percent(one.worst) + " at worst, with " +
         whole_percent(one.inside) + " of the steps inside their 90 % range";
}

/// "bert", "gpt", "llama": the letters that a name begins with.
std::string architecture_of(const std::string& model) {
  const auto end = std::ranges::find_if_not(
      model, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return {model.begin(), end};
}

/// 0 one model, 1 one architecture, 2 neither.
int model_distance(const std::string& one, const std::string& other) {
  if (one == other) return 0;
  return architecture_of(one) == architecture_of(other) ? 1 : 2;
}

/// Doublings between the question's workers and the source's.
double scale_distance(const PublishedErrors& one, int workers) {
  if (workers == 0) return 0;
  const int nearest = std::clamp(workers, one.least_workers, one.most_workers);
  return std::abs(std::log2(static_cast<double>(workers) / nearest));
}

/// How far a source is from a question, kind by kind.
struct Distance {
  bool family = false;
  int model = 0, device = 0;
  bool precision = false;
  double scale = 0;
  int rows = 0;

  auto by_model() const { return std::tuple(family, model, device, precision, scale, -rows); }
  auto by_device() const { return std::tuple(device, family, model, precision, scale, -rows); }
};

Distance distance(const PublishedErrors& one, const PredictionQuestion& question) {
  return {one.family != question.family,
          model_distance(one.workload, question.model),
          device_distance(one.device, question.device),
          !question.precision.empty() && one.precision != question.precision,
          scale_distance(one, question.workers),
          one.rows};
}

bool on_chip_of(const PublishedErrors& one, const std::string& device) {
  return device_distance(one.device, device) <= 1;
}

}  // namespace

std::vector<PublishedErrors> read_published_errors(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"source", "workload", "family", "device", "precision", "least_workers",
                "most_workers", "rows", "median", "worst", "inside"},
               {});
  std::vector<PublishedErrors> all;
  for (std::size_t i = 0; i < table.rows(); ++i) all.push_back(errors_of(table, i));
  return all;
}

std::vector<PublishedErrors> nearest_published(const std::vector<PublishedErrors>& all,
                                               const PredictionQuestion& question) {
  if (question.device.empty()) return {};
  if (all.empty()) return {};
  const auto* alike = &*std::ranges::min_element(
      all, {}, [&](const auto& one) { return distance(one, question).by_model(); });
  const auto* there = &*std::ranges::min_element(
      all, {}, [&](const auto& one) { return distance(one, question).by_device(); });
  std::vector<PublishedErrors> nearest;
  if (alike->family == question.family) nearest.push_back(*alike);
  const bool known_chip = !nearest.empty() && on_chip_of(*alike, question.device);
  if (!known_chip && on_chip_of(*there, question.device)) nearest.push_back(*there);
  if (nearest.empty()) nearest.push_back(*alike);
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
  const auto none = [&](const auto& is) { return std::ranges::none_of(nearest, is); };
  std::vector<std::string> missing;
  if (none([&](const auto& one) { return on_chip_of(one, question.device); }))
    missing.push_back("this device");
  if (none([&](const auto& one) { return one.family == question.family; }))
    missing.push_back("this kind of network");
  else if (none([&](const auto& one) { return model_distance(one.workload, question.model) < 2; }))
    missing.push_back("this model");
  const std::string lacking = joined_texts(missing, " or ");
  if (!lacking.empty()) words += " None of them is of " + lacking + ": expect more.";
  return words;
}

}  // namespace gradwire::results
