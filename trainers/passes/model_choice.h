#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradwire::trainers {

/// A model by name, and what a scenario says of its layers.
struct ModelChoice {
  ModelChoice(const char* model) : name(model) {}             // NOLINT: "mlp" is a choice
  ModelChoice(std::string model) : name(std::move(model)) {}  // NOLINT

  std::string name;
  /// Widths of hidden layers: of mlp, 256 and 128 if absent; of cnn a convolution each, 16, 32 and
  /// 32 if absent; of char-lstm one, 128 if absent; of transformer one a block, four times the
  /// embedding of four blocks if absent.
  std::optional<std::vector<std::int64_t>> hidden = {};
  std::string activation = "relu";  ///< between mlp's layers: relu, tanh
  bool bias = true;                 ///< of logistic and mlp
  bool normalised = false;          ///< mlp: by batches, after each layer's product
  /// mlp, resnet20: by samples, in place of activations and of normalisation by batches.
  bool evonorm = false;
  /// Of char-lstm, 32 if absent; of transformer its width, 128 if absent.
  std::optional<std::int64_t> embedding = {};
  std::int64_t heads = 4;        ///< of transformer: a divisor of its width
  std::string file = {};         ///< of torchscript
  std::int64_t rule_floats = 0;  ///< PassOptions::layer_floats
  /// cross-entropy, squared-hinge (of results against 1 for the class, -1 for the others); of
  /// torchscript also nll (it gives logarithms of probabilities), mse (of its
  /// results and 1 for the class, 0 for the others)
  std::string loss = "cross-entropy";
};

}  // namespace gradwire::trainers
