#pragma once
#include "trainers/passes/layer_rules.h"

/// The layers that networks are made of, each with the rules of the pass around it. Includes
/// LibTorch.
namespace gradwire::trainers {

/// A layer's draws: this and the number of its first parameter.
inline constexpr std::uint32_t kLayerStream = kFirstReservedTensor + 0x50000000u;

/// Values of Network::statistics(), flat: of each batch normalisation the running mean and
/// variance; and what else belongs to a pass.
struct Statistics {
  std::vector<at::Tensor> values;
  bool training = false;
  bool record = false;       ///< while training: update them
  RandomStream draws = {};   ///< of the pass (PassOptions::draws)
  at::Tensor of_rules = {};  ///< [parameters, PassOptions::layer_floats], if any; among `values`
  std::span<float> layer_memory = {};
  bool watch_layers = false;
};

/// All arguments must outlive it. `first` is the number of a layer's first parameter: a weight,
/// which the others of the layer follow.
class Layers {
 public:
  Layers(const std::vector<at::Tensor>& parameters, const Statistics& statistics,
         const LayerRules& rules)
      : parameters_(parameters), statistics_(statistics), rules_(rules) {}

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const Statistics& statistics() const { return statistics_; }

  at::Tensor linear(const at::Tensor& x, std::size_t first, bool bias = true) const;
  at::Tensor convolution(const at::Tensor& x, std::size_t first, bool bias, std::int64_t stride,
                         std::int64_t padding) const;
  /// Of a batch, by channel; `number`: among the network's normalisations.
  at::Tensor normalisation(const at::Tensor& x, std::size_t first, std::size_t number) const;
  /// By sample, with the activation after it (trainers/passes/evonorm.h).
  at::Tensor evonorm(const at::Tensor& x, std::size_t first) const;
  /// x: [batch, sequence, features]; from a state of zeros, two weights and two biases.
  at::Tensor lstm(const at::Tensor& x, std::size_t first) const;
  at::Tensor embedding(const at::Tensor& tokens, std::size_t first) const;
  /// Of each row by itself: (x - mean) / deviation, times a scale, plus a shift.
  at::Tensor layer_norm(const at::Tensor& x, std::size_t first) const;
  /// x: [batch, sequence, 3 features], queries, keys and values; each head has an equal part of the
  /// features, and a place sees itself and those before it:
  /// softmax(q k^T / sqrt(features of a head)) v.
  at::Tensor causal_attention(const at::Tensor& x, std::int64_t heads) const;
  at::Tensor relu(const at::Tensor& x) const;
  at::Tensor tanh(const at::Tensor& x) const;
  /// Of 2 x 2, without overlap.
  at::Tensor max_pool(const at::Tensor& x) const;
  /// Over height and width.
  at::Tensor average_pool(const at::Tensor& x) const;

 private:
  std::span<float> memory_of(std::size_t parameter) const;
  template <class Compute>
  at::Tensor run(LayerKind kind, std::size_t first, std::size_t count, const at::Tensor& x,
                 const Compute& compute, std::span<const at::Tensor> running = {}) const;

  const std::vector<at::Tensor>& parameters_;
  const Statistics& statistics_;
  const LayerRules& rules_;
};

}  // namespace gradwire::trainers
