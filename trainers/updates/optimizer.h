#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Weight updates on flat buffers; elementwise, so the same on any number of threads.
namespace gradwire::trainers {

enum class OptimizerKind { kSgd, kAdam };
/// Throws TrainerError for an unknown name: on every device the same optimisers.
OptimizerKind optimizer_kind(const std::string& name);

struct OptimizerSettings {
  std::string name = "sgd";  ///< sgd adam
  double learning_rate = 0.05;
  double momentum = 0.0;      ///< sgd
  double weight_decay = 0.0;  ///< L2 term added to the gradient
};

/// sgd: g += wd w; v = m v + g; w -= lr v (v = g at the first step; without momentum w -= lr g).
/// adam (Kingma, Ba 2015): b1 = 0.9, b2 = 0.999, e = 1e-8, bias-corrected. Both as LibTorch has
/// them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// All spans have the size given at construction and do not overlap.
  virtual void step(std::span<const float> gradient, std::span<float> weights) = 0;
  /// What it remembers, for save and load: flat buffers and the number of steps done.
  virtual std::vector<std::span<float>> buffers() = 0;
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  std::int64_t steps_ = 0;
};

/// adam's bias corrections at step `steps` >= 1: rate / (1 - b1^steps) and 1 / sqrt(1 - b2^steps).
struct AdamFactors {
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999;
  float rate;
  float root;
};
AdamFactors adam_factors(double rate, std::int64_t steps);

/// Throws TrainerError for an unknown name.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings, std::size_t elements);

}  // namespace gradwire::trainers
