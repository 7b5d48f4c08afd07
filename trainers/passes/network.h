#pragma once
#include "trainers/passes/aten.h"

#include <memory>
#include <string>
#include <vector>

#include "trainers/data/data_set.h"
#include "trainers/layout.h"
#include "trainers/passes/layers.h"
#include "trainers/passes/model_choice.h"

/// Models as functions of their parameters: no modules, so that any number of threads runs the same
/// model on the same weights. Includes LibTorch.
namespace gradwire::trainers {

/// What passes in training change beside the gradients, such as running means.
struct StatisticsTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> initial;
};

/// A chain of stages: each takes the one tensor that the stage before it gives.
class Network {
 public:
  virtual ~Network() = default;
  /// images, numbers: [batch, channels, height, width] -> logits [batch, classes];
  /// text: [batch, sequence] -> [batch * sequence, classes].
  at::Tensor forward(const std::vector<at::Tensor>& parameters, const at::Tensor& input,
                     const Statistics& statistics, const LayerRules& rules = {}) const;
  virtual at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const = 0;
  /// The same in two steps: what comes before an activation at the stage's end, if it has one, and
  /// that. Where workers have a part each, the activation is the next one's: what is sent is not
  /// squeezed by it.
  virtual at::Tensor before_activation(std::size_t stage, const at::Tensor& x,
                                       const Layers& layers) const {
    return this->stage(stage, x, layers);
  }
  virtual at::Tensor activation(std::size_t, const at::Tensor& x, const Layers&) const { return x; }
  std::size_t stages() const { return starts_.size(); }
  /// Number of the stage's first parameter; a stage's parameters follow one another.
  std::size_t first_parameter(std::size_t stage) const {
    return stage == starts_.size() ? parameters_.size() : starts_[stage];
  }
  /// Whether it is made of Layers, so that layer rules reach all of it and it can be cut.
  virtual bool has_layers() const { return true; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  virtual const std::vector<StatisticsTensor>& statistics() const { return statistics_; }
  /// The last of statistics() is what layer rules remember: so many floats a parameter.
  std::int64_t rule_floats() const { return rule_floats_; }
  /// Once, after the network is made. Precondition: has_layers().
  void remember_for_rules(std::int64_t floats);

 protected:
  /// Parameters that are added from now on belong to another stage.
  void begin_stage() { starts_.push_back(parameters_.size()); }
  /// Uniform in +-sqrt(1 / fan_in), weights and biases, as LibTorch's own layers start; returns the
  /// number of the weight (the bias follows).
  std::size_t add_linear(const std::string& name, std::int64_t in, std::int64_t out,
                         bool bias = true);
  std::size_t add_convolution(const std::string& name, std::int64_t in, std::int64_t out,
                              std::int64_t kernel);
  std::size_t add(const std::string& name, std::vector<std::int64_t> shape, double centre,
                  double bound);

  /// Running mean 0 and variance 1 of a batch normalisation.
  void add_normalisation(std::int64_t channels);

  /// Gate, scale and shift of a range-EvoNorm. Throws TrainerError for channels that it cannot
  /// group.
  void add_evonorm(const std::string& name, std::int64_t channels, std::int64_t positions);

  std::vector<Parameter> parameters_;

 private:
  std::vector<std::size_t> starts_;  ///< [stage]
  std::vector<StatisticsTensor> statistics_;
  std::int64_t rule_floats_ = 0;
};

/// Throws TrainerError for an unknown name, or a model that does not take such data.
std::unique_ptr<Network> make_network(const ModelChoice& choice, const DataSet& data);

// One maker per model, in a file of its own or beside its siblings.
std::unique_ptr<Network> make_logistic(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_mlp(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_lenet5(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_cnn(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_resnet20(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_char_lstm(const ModelChoice& choice, const DataSet& data);
std::unique_ptr<Network> make_transformer(const ModelChoice& choice, const DataSet& data);
/// A model that torch.jit saved, with the weights of its file at first; all that requires a
/// gradient is trained. Throws TrainerError for what cannot be trained on these data.
std::unique_ptr<Network> make_script_network(const std::string& path, const DataSet& data);

/// The samples as the models take them.
at::Tensor input_tensor(const DataSet& data, const Batch& batch);

}  // namespace gradwire::trainers
