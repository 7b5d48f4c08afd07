#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/reports/accuracy_options.h"
#include "cli/reports/price_options.h"
#include "results/advice/cost.h"
#include "results/advice/ranking.h"
#include "results/advice/steps_to_target.h"
#include "scenarios/scenario.h"

namespace gradwire::cli {

struct AdviseArguments {
  std::string file;
  std::string trace;  ///< of a profiler, or a recording: gives the layer table
  std::vector<std::string> sets;
  std::string network;  ///< by name
  std::string model, device, precision, rate, delay, workers;
  int batch = 0;
  double loss = -1;
  std::vector<std::string> methods, collectives, buckets;
  std::string show = "verdict";
  std::string fit;
  bool closed_form = false;
  int verify = 0;
  PriceArguments prices;
  AccuracyArguments accuracy_options;
  double accuracy = 0;
  std::string filter;
  std::string assume_steps = "none";
};

/// Advice for one number of workers.
struct WorkersAdvice {
  int workers = 0;
  std::vector<results::Candidate> candidates;
  results::Advice advice;
  std::vector<results::CodecCostAdvice> by_codec_cost;  ///< empty: no codec's time is assumed
};

/// What the views of `advise` show.
struct AdviceShown {
  const AdviseArguments& arguments;
  scenarios::Scenario scenario;
  results::StepFit fit;
  results::CostOptions costs;
  results::AccuracyKnowledge accuracy;
  std::vector<WorkersAdvice> by_workers;
  std::vector<results::TrainedSteps> trained;  ///< where an accuracy is asked for
};

// Each prints one table.
void print_verdicts(const AdviceShown& shown, const Context& context);
void print_ranking(const AdviceShown& shown, const Context& context);
void print_crossovers(const AdviceShown& shown, const Context& context);
void print_costs(const AdviceShown& shown, const Context& context);

/// "8", "8,12,16", "8..128" (doubling). Throws Error.
std::vector<int> worker_counts(const std::string& text);

}  // namespace gradwire::cli
