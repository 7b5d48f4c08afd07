#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "trainers/methods/method.h"
#include "trainers/passes/replica.h"

/// Which worker of a pipeline has which part of a model.
namespace gradwire::trainers {

struct StageCut {
  std::vector<std::size_t> ends;      ///< [stages]: parts of the model up to there
  std::vector<std::size_t> stage_of;  ///< [parameter]
  std::map<std::string, std::size_t, std::less<>> stage_of_name;  ///< the same by its name
  int replicas = 1;

  int stages() const { return static_cast<int>(ends.size()); }
  int workers() const { return replicas * stages(); }
  int host(int replica, int stage) const { return replica * stages() + stage; }
};

/// Throws TrainerError where the model cannot be cut so, such as a stage without layers.
StageCut stage_cut(const scenarios::Scenario& scenario, const Model& model);

/// The scenario of the replicas alone: each is a worker that takes a batch, all of them take steps
/// together.
scenarios::Scenario of_replicas(const scenarios::Scenario& scenario, const StageCut& cut);

/// The method with sets of each stage's own, set s of stage p being p * sets() + s, so that no
/// bucket has tensors of two workers. Precondition: it has one phase and looks at gradients alone.
std::unique_ptr<methods::Method> by_stage(std::unique_ptr<methods::Method> method,
                                          const StageCut& cut);

}  // namespace gradwire::trainers
