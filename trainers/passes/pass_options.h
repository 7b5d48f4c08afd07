#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/philox.h"

/// How a pass over a batch is computed, beside the model itself. Without LibTorch, so that methods
/// and schedules can say it.
namespace gradwire::trainers {

/// A rule for what layers compute, by its name (trainers/passes/layer_rules.h).
struct LayerRuleChoice {
  std::string name;
  std::map<std::string, double> options = {};

  bool operator==(const LayerRuleChoice&) const = default;
};

struct PassOptions {
  /// Layers with running statistics update them (as in distributed training, worker 0's are kept).
  bool record_statistics = false;
  /// Seed, step and worker of the pass, of what layers draw in training.
  RandomStream draws = {};
  /// The gradient is that of the loss times this; the loss is handed out as it is.
  float loss_scale = 1;
  /// Activation checkpointing: the network is cut into so many segments, and a backward pass
  /// computes what a segment keeps once more. 0: all is kept.
  int checkpoint_segments = 0;
  /// The first one is around the others. They hold for evaluations, too.
  std::vector<LayerRuleChoice> layer_rules = {};
  /// Floats that they remember of each layer with weights, such as running ranges; of one rule at
  /// most. They are statistics of the model: saved, and worker 0's.
  int layer_floats = 0;
  /// What rules read and write of the worker whose pass it is: equally many floats for each
  /// parameter, in forward order. Empty: nothing is known of it. Outlives the pass.
  std::span<float> layer_memory = {};
  /// Rules write to it what they see of this pass.
  bool watch_layers = false;
};

}  // namespace gradwire::trainers
