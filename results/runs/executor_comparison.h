#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/figures/figure.h"
#include "results/store/store.h"

/// One scenario on several executors, step by step: how far each is from one of them.
namespace gradwire::results {

/// The times of a run's steps: from the end of the one before it to its own end, the first from its
/// start. Seconds.
std::vector<double> step_times(std::span<const StepRow> steps);

struct ExecutorTimes {
  std::string executor;
  std::vector<double> step_s;
};

struct ExecutorErrors {
  std::string executor;
  std::vector<double> errors;    ///< [steps] time over the reference's, less 1
  double median = 0, worst = 0;  ///< of their absolute values
  /// Of all steps together, with its sign: what errors of single steps leave of it.
  double total = 0;
};

/// One an executor but the reference, over the steps that both have. Precondition: every executor
/// has a step, and the reference's take time.
std::vector<ExecutorErrors> errors_against(const ExecutorTimes& reference,
                                           std::span<const ExecutorTimes> others);

/// Step times over steps, a line an executor.
Figure executor_figure(std::span<const ExecutorTimes> all, const std::string& scenario,
                       const std::vector<std::string>& scenario_hashes);

}  // namespace gradwire::results
