#pragma once
#include "trainers/passes/aten.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainers/passes/pass_options.h"

/// Rules inside a network: what is done around the layers' own computation, such as other number
/// formats, sparse weights, or activations that are kept in fewer bits. Includes LibTorch.
namespace gradwire::trainers {

enum class LayerKind {
  kLinear,
  kConvolution,
  kNormalisation,
  kEvoNorm,  ///< normalisation and activation in one: gate, scale, shift
  kRecurrent,
  kEmbedding,
  kActivation,  ///< no weights: relu, tanh
  kPooling,     ///< no weights
  kLayerNorm,   ///< of each token by itself: a scale and a shift
  kAttention,   ///< no weights: queries, keys and values in, their weighted sums out
};

struct Layer {
  LayerKind kind;
  std::size_t first_parameter;  ///< its weights' numbers in Network::parameters() start here
  bool training;                ///< false: an evaluation
  bool last = false;            ///< with the network's last weights: it gives the answer
  /// Of a normalisation: its running mean and variance, and whether the pass updates them, which a
  /// rule that computes in the layer's place then does.
  std::span<const at::Tensor> running = {};
  bool record = false;
  /// Of a layer with weights: the PassOptions::layer_floats that its rule remembers, 0 at first,
  /// which it changes where `record` is set. Not defined where no rule remembers anything.
  at::Tensor remembered = {};
  /// The layer's own in this pass. Parts of a batch that pass one after the other draw alike.
  RandomStream draws = {};
  /// Of layers with weights: the part of PassOptions::layer_memory that is its first parameter's.
  std::span<float> memory = {};
  bool watch = false;  ///< see PassOptions::watch_layers
};

/// What a layer computes of an input and its weights: a function, which autograd differentiates.
using LayerFunction =
    std::function<at::Tensor(const at::Tensor& input, std::span<const at::Tensor> weights)>;

/// Threads share one. Checkpointing and rules that are around this one may call forward() more than
/// once a pass: equal arguments must give equal results, so what is random is drawn by counter.
class LayerRule {
 public:
  virtual ~LayerRule() = default;
  /// Calls `compute` with what the layer is to see, changes its result, or both. The identity is
  /// `return compute(input, weights)`.
  virtual at::Tensor forward(const Layer& layer, const at::Tensor& input,
                             std::span<const at::Tensor> weights,
                             const LayerFunction& compute) const = 0;
};

using LayerRuleMaker =
    std::function<std::unique_ptr<LayerRule>(const std::map<std::string, double>& options)>;

/// A source that brings a rule has one of these as a constant of its own. Throws Error for a name
/// that is there already.
class LayerRuleEntry {
 public:
  LayerRuleEntry(const std::string& name, LayerRuleMaker maker);
};

using LayerRules = std::vector<std::unique_ptr<LayerRule>>;

/// Throws TrainerError for a name that no entry has.
LayerRules make_layer_rules(const std::vector<LayerRuleChoice>& choices);

}  // namespace gradwire::trainers
