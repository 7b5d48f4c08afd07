#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/advice/choice.h"
#include "results/figures/plot_geometry.h"
#include "results/prediction/published_errors.h"
#include "results/scalability/accuracy.h"
#include "results/scalability/costs.h"
#include "results/scalability/models.h"
#include "results/scalability/sensitivity.h"
#include "results/scalability/series.h"

/// How far stored runs scale, and what that rests on: everything that the scalability report says,
/// as data. docs/scalability-report.md says how each figure is made.
namespace gradwire::results {

struct ScalabilityOptions {
  ModelOptions model;
  double target = 0.8;  ///< scaling efficiency that is asked for, 0..1
  int at = 0;           ///< workers that answers are about; 0 = the most of any run
  CostOptions costs;
  AccuracyOptions accuracy;
  /// Of methods; scalability_of() adds what the store's training runs say.
  AccuracyKnowledge knowledge;
  /// What the runs' compute times rest on, and how far predictions of others' steps on such devices
  /// were off.
  PredictionQuestion question;
  std::vector<PublishedErrors> strangers;
  std::string command;               ///< that makes the same report again
  std::string source;                ///< "the runs of scenario.json", or the filter
  std::vector<std::string> remarks;  ///< "12 runs were made for this report"
};

/// A series' answer at one number of workers.
struct ScaleAnswer {
  bool known = false;  ///< by runs; else predicted
  double seconds = 0, low_s = 0, high_s = 0;
  std::string provenance;
};

struct Scalability {
  ScaleData data;
  ScalabilityOptions options;                      ///< with `at` and model.up_to filled in
  std::vector<std::optional<SeriesModel>> models;  ///< [series]
  bool computes = false;  ///< one worker's step takes time: efficiency has a meaning
  /// All series differ in method and exchange only: they compete.
  bool comparable = false;
  /// The series to take at options.at: choice.chosen, else (series that do not compete) the fastest
  /// of those that may be recommended; where all lose too much accuracy, the fastest.
  std::size_t best = 0;
  std::vector<AccuracyEvidence> evidence;  ///< [series]
  /// Among the series that have a time at options.at; empty unless comparable.
  std::optional<Choice> choice;
  std::vector<Option> competing;              ///< what it chose from
  std::vector<std::size_t> competing_series;  ///< [competing]
  std::optional<std::size_t> dense;           ///< fp32 among them
  /// [series] The most workers on which it has the target's efficiency: of runs, and where its
  /// model holds; of `best` between those that are shown, too. Empty: on no number of two and more.
  std::vector<std::optional<int>> reach;
  std::vector<SensitivityRow> sensitivity;  ///< of `best` on options.at workers
  std::vector<std::string> warnings;

  const SeriesModel* model(std::size_t series) const {
    return models[series] ? &*models[series] : nullptr;
  }
  /// Samples/s of n workers; exchanges/s where the workload has no samples.
  double throughput(std::size_t series, int workers, double seconds) const;
  const char* throughput_unit() const;
  /// "6.56 k", "6.28"
  std::string throughput_text(double value) const;
  /// Efficiency of a known or predicted time; 0 where nothing is computed.
  double efficiency(std::size_t series, int workers, double seconds) const;
  /// The model's answer, whether it holds there or not. Precondition: the series has a model.
  CurvePoint predicted(std::size_t series, int workers) const;
  /// Of runs, else of the model where it holds.
  std::optional<ScaleAnswer> answer(std::size_t series, int workers) const;
  /// Whether the model's figures for that number of workers may be concluded from; by default,
  /// whether any may.
  bool holds(std::size_t series, int workers = 1) const {
    return models[series] && workers <= models[series]->holds_to;
  }
  /// Whether anything here is predicted.
  bool any_holds() const;
  /// Whether `series` may be chosen where it is faster: it competes, and keeps its accuracy or is
  /// not known to lose it.
  bool is_rival(std::size_t series) const {
    return series == best || (comparable && evidence[series].may_be_recommended());
  }
  bool within_runs(std::size_t series, int workers) const;
};

/// Throws as scale_data() does, and where `at` or `up_to` is negative, or the target not in (0, 1].
Scalability scalability_of(const Store& store, std::span<const RunId> runs,
                           ScalabilityOptions options);

/// "a", "a and b", "a, b and c".
std::string in_words(const std::vector<std::string>& parts);
/// "12.3 %", "+4.5 %", and a time with its 90 % range: "12.3 ms (11.9 ms to 12.8 ms)".
std::string percent(double share, bool sign = false);
std::string range_words(double low, double high, Quantity quantity);

}  // namespace gradwire::results
