#pragma once
#include "trainers/passes/aten.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainers/timing/model_profile.h"

/// A model that model_profile.cc can watch: a forward pass that ends in a scalar. Includes
/// LibTorch.
namespace gradwire::trainers {

class ProfiledModel {
 public:
  using Named = std::vector<std::pair<std::string, at::Tensor>>;
  virtual ~ProfiledModel() = default;
  /// Forward pass over one batch; the result has a gradient.
  virtual at::Tensor loss() = 0;
  /// Trainable parameters, leaves, in the order of the model.
  virtual const Named& parameters() const = 0;
};

/// A model of trainers/passes/networks.cc on a batch of its data set, with cross-entropy.
std::unique_ptr<ProfiledModel> profiled_network(const ModelProfileRequest& request,
                                                at::Device device);

/// A TorchScript file on random input; the loss is the sum of the means of all results.
std::unique_ptr<ProfiledModel> profiled_script(const ModelProfileRequest& request,
                                               at::Device device);

/// One tensor of a TorchScript file's input.
struct InputSpec {
  std::vector<std::int64_t> shape;  ///< of one sample
  std::int64_t tokens = 0;          ///< 0: normally distributed floats; else numbers below this
};

/// "3x224x224" or "128:30522"; several inputs between commas. Throws TrainerError.
std::vector<InputSpec> parse_inputs(const std::string& text);

}  // namespace gradwire::trainers
