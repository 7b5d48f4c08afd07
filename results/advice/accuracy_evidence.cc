#include "results/advice/accuracy_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "compressors/codec.h"
#include "results/runs/difference.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {

using compressors::is_plain_codec;

namespace {

/// What may differ between a method's training and its baseline's: the method, how sums are formed
/// (which goes with it), and what only names a run.
bool goes_with_method(const std::string& pointer) {
  for (const char* start :
       {"/method", "/exchange/collective", "/exchange/bucket", "/exchange/group", "/name",
        "/description", "/expected", "/prices", "/seed", "/sweep", "/$schema"})
    if (pointer.starts_with(start)) return true;
  return false;
}

std::string workload_key(const std::string& json) {
  std::string key;
  for (const auto& [pointer, text] : scenario_leaves(json))
    if (!goes_with_method(pointer)) key += pointer + "=" + text + "\n";
  return key;
}

/// Accuracies of one scenario, by seed; the latest run of a seed counts.
struct Trained {
  const RunHeader* header = nullptr;
  std::map<std::uint64_t, std::pair<RunId, double>> by_seed;

  void add(const RunSummary& run) {
    if (!header) header = &run.header;
    auto& slot = by_seed[run.header.seed];
    if (slot.first <= run.id) slot = {run.id, accuracy_of(run)};
  }
  /// Where a seed diverged there is no mean: those that did not would flatter the method.
  Statistic accuracy() const {
    std::vector<double> values;
    for (const auto& [seed, value] : by_seed) values.push_back(value.second);
    Statistic all = statistic(values);
    if (all.n < static_cast<int>(values.size())) {
      all.mean = std::numeric_limits<double>::quiet_NaN();
      all.n = static_cast<int>(values.size());
    }
    return all;
  }
  static double accuracy_of(const RunSummary& run) {
    return run.status == RunStatus::kDiverged ? std::numeric_limits<double>::quiet_NaN()
                                              : *run.final_accuracy;
  }
};

/// Trainings of one workload in the order of their first run.
struct Workload {
  std::vector<std::string> order;
  std::map<std::string, Trained> by_method;
};

/// Of published figures: 92.75 is not more than a point below 93.75.
constexpr double kRounding = 1e-9;

/// "−0.2 points (± 0.4)"
std::string difference_words(const AccuracyComparison& one) {
  const double band = doubt(one.compressed, one.baseline);
  std::string words = signed_in_points(one.difference()) + " points";
  if (!std::isnan(band)) {
    char text[32];
    std::snprintf(text, sizeof text, " (\u00b1 %.1f)", 100 * band);
    words += text;
  }
  return words;
}

std::string workload_words(const AccuracyComparison& one) {
  const int seeds = std::min(one.compressed.n, one.baseline.n);
  return one.model + (one.data_set.empty() ? "" : " on " + one.data_set) + ", " +
         std::to_string(one.workers) + " workers, " + std::to_string(seeds) +
         (seeds == 1 ? " seed" : " seeds");
}

/// With the accuracy that is held against: a workload that learned nothing shows nothing.
std::string stored_words(const AccuracyComparison& one) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * one.baseline.mean);
  return difference_words(one) + " against " + text + " uncompressed in runs stored here (" +
         workload_words(one) + ")";
}

/// Nobody is advised to take what has lost more than they accept, though chance may have done it.
Standing standing_of(const AccuracyComparison& one, double tolerance) {
  const double difference = one.difference(), band = doubt(one.compressed, one.baseline);
  if (std::isnan(difference)) return Standing::kLoses;  // the training diverged
  if (difference < -tolerance) return Standing::kLoses;
  return !std::isnan(band) && difference - band >= -tolerance ? Standing::kKeeps
                                                              : Standing::kUnclear;
}

/// The comparison that decides among those that `counts` passes: the worst standing, then the
/// largest loss. Null where there is none.
template <typename Counts>
const AccuracyComparison* worst(const AccuracyKnowledge& knowledge, Counts counts) {
  const AccuracyComparison* found = nullptr;
  const auto badness = [&](const AccuracyComparison& one) {
    return std::pair(static_cast<int>(standing_of(one, knowledge.tolerance)), -one.difference());
  };
  for (const AccuracyComparison& one : knowledge.trained)
    if (counts(one) && (!found || badness(one) > badness(*found))) found = &one;
  return found;
}

bool may_be_chance(const AccuracyComparison& one) {
  return std::abs(one.difference()) <= doubt(one.compressed, one.baseline);
}

AccuracyEvidence from_runs(const AccuracyComparison& one, Standing standing) {
  const std::string figures = stored_words(one);
  if (std::isnan(one.difference()))
    return {standing, "diverged in runs stored here (" + workload_words(one) + ")"};
  switch (standing) {
    case Standing::kKeeps:
      return {standing, "accuracy kept: " + figures, one.difference()};
    case Standing::kLoses:
      return {standing,
              "loses accuracy: " + figures +
                  (may_be_chance(one) ? ", which so few seeds cannot tell from chance" : ""),
              one.difference()};
    default:
      return {standing, "accuracy unclear: " + figures + ", more seeds would tell",
              one.difference()};
  }
}

/// A row about this model and these options that shows a loss beyond the tolerance; the largest.
const PublishedAccuracy* published_loss(const AccuracyKnowledge& knowledge,
                                        const std::string& method, const std::string& method_json,
                                        const std::string& model) {
  const PublishedAccuracy* worst = nullptr;
  for (const PublishedAccuracy& row : knowledge.published)
    if (row.method == method && row.has_figures() && same_model(row, model) &&
        same_settings(row, method_json) && row.difference() < -knowledge.tolerance - kRounding &&
        (!worst || row.difference() < worst->difference()))
      worst = &row;
  return worst;
}

std::string loss_words(const PublishedAccuracy& row) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f to %.2f %%", 100 * row.uncompressed, 100 * row.compressed);
  return "loses accuracy: " + signed_in_points(row.difference()) + " points published for " +
         row.model + " (" + row.figure + " " + text + ", " + row.source + ")";
}

}  // namespace

std::string_view name_of(Standing standing) {
  constexpr std::array<std::string_view, 4> names = {"keeps", "unclear", "unknown", "loses"};
  return names[static_cast<std::size_t>(standing)];
}

std::vector<AccuracyComparison> accuracy_comparisons(std::span<const RunSummary> runs) {
  std::vector<std::string> order;
  std::map<std::string, Workload> workloads;
  for (const RunSummary& run : runs) {
    const bool diverged = run.status == RunStatus::kDiverged;
    if (!has_ended(run.status) || (!diverged && !run.final_accuracy)) continue;
    const std::string key = workload_key(run.header.scenario_json);
    const auto [found, fresh] = workloads.try_emplace(key);
    if (fresh) order.push_back(key);
    Workload& workload = found->second;
    const auto [trained, first] = workload.by_method.try_emplace(run.header.method);
    if (first) workload.order.push_back(run.header.method);
    trained->second.add(run);
  }
  std::vector<AccuracyComparison> comparisons;
  for (const std::string& key : order) {
    const Workload& workload = workloads.at(key);
    const auto baseline =
        std::find_if(workload.by_method.begin(), workload.by_method.end(),
                     [](const auto& trained) { return is_plain_codec(trained.first); });
    if (baseline == workload.by_method.end()) continue;
    if (std::isnan(baseline->second.accuracy().mean)) continue;  // nothing to hold against
    for (const std::string& method : workload.order) {
      const Trained& trained = workload.by_method.at(method);
      if (is_plain_codec(method)) continue;
      comparisons.push_back({method, trained.header->model, trained.header->data_set,
                             trained.header->workers, trained.accuracy(),
                             baseline->second.accuracy()});
    }
  }
  return comparisons;
}

AccuracyEvidence evidence_of(const AccuracyKnowledge& knowledge, const std::string& label,
                             const std::string& method_json, const std::string& model) {
  if (is_plain_codec(label))
    return {Standing::kKeeps, "no compression, nothing lost", 0, Provenance::kGiven};
  const std::string method = label.substr(0, label.find(' '));
  const auto* any = worst(knowledge, [&](const auto& one) { return one.method == label; });
  if (any && standing_of(*any, knowledge.tolerance) == Standing::kLoses)
    return from_runs(*any, Standing::kLoses);
  const auto* own =
      worst(knowledge, [&](const auto& one) { return one.method == label && one.model == model; });
  if (own) return from_runs(*own, standing_of(*own, knowledge.tolerance));
  if (const auto* loss = published_loss(knowledge, method, method_json, model))
    return {Standing::kLoses, loss_words(*loss), loss->difference(), Provenance::kPublished};
  AccuracyEvidence unknown{Standing::kUnknown, "accuracy unknown here"};
  if (any) unknown.words += " for " + model + "; " + stored_words(*any);
  unknown.words += "; " + published_words(knowledge.published, method, method_json, model);
  return unknown;
}

namespace {

/// Without what a scenario need not say: options at their defaults.
nlohmann::ordered_json without_defaults(nlohmann::ordered_json method) {
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    if (method.value("name", "") != codec.name) continue;
    for (const OptionSpec& option : codec.options) {
      const auto found = method.find(option.name);
      if (found == method.end()) continue;
      const std::string value = found->is_string() ? found->get<std::string>() : found->dump();
      if (value == option.default_text) method.erase(found);
    }
  }
  return method;
}

}  // namespace

std::string accuracy_command(const std::string& method_json) {
  const auto method = nlohmann::ordered_json::parse(method_json, nullptr, false);
  return R"(gradwire run quickstart --set '/seeds=[1,2,3]' --set '/sweep={"/method":[{"name":"none"},)" +
         (method.is_object() ? without_defaults(method).dump() : "{}") + "]}'";
}

}  // namespace gradwire::results
