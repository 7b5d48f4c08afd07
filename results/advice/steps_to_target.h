#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/runs/summary.h"
#include "results/store/store.h"

/// Time to accuracy: how many steps real training took to a held-out accuracy, and how many that
/// makes elsewhere.
namespace gradwire::results {

/// Runs that trained alike but for their seed.
struct TrainedSteps {
  std::string model, data_set, method;
  int workers = 0;
  int batch_per_worker = 0;
  int runs = 0;            ///< finished
  Statistic steps;         ///< until the accuracy was first seen; of the runs that reached it
  int evaluate_every = 1;  ///< steps from one evaluation to the next: it may have been there before
  std::int64_t global_batch() const { return std::int64_t{workers} * batch_per_worker; }
};

/// Of the finished training runs among `runs`: by model, data, method, workers and batch. Steps are
/// counted up to the evaluation that first saw `accuracy` (a share in (0, 1]), so they are late by
/// up to the scenario's evaluate_every. Throws Error: the share is none.
std::vector<TrainedSteps> steps_to_target(const Store& store, std::span<const RunSummary> runs,
                                          double accuracy);

/// What is assumed where the global batch (workers times batch) was never trained.
enum class StepsAssumption {
  kNone,         ///< nothing: refuse
  kSameSteps,    ///< as many steps: a larger batch gains nothing
  kSameSamples,  ///< as many samples: steps go down as the batch goes up (linear scaling)
};

struct StepsAnswer {
  double steps = 0;
  /// Of the seeds; the low end is just after the evaluation before the fastest seed's.
  double low = 0, high = 0;
  std::string basis;  ///< "3 of 3 seeds trained with a batch of 128", and any assumption
  Provenance provenance = Provenance::kMeasured;  ///< or assumed
};

/// From the runs of the same method label and global batch, else from those of the nearest one and
/// the assumption. Throws Error: no run of the method, none that reached the accuracy, or a batch
/// that was never trained without an assumption.
StepsAnswer steps_for(std::span<const TrainedSteps> trained, const std::string& method,
                      std::int64_t global_batch, StepsAssumption assumption);

}  // namespace gradwire::results
