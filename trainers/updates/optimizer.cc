#include "trainers/updates/optimizer.h"

#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// beta^steps by repeated multiplication: the same on every machine, unlike pow.
double power(double beta, std::int64_t steps) {
  double product = 1;
  for (; steps > 0; steps >>= 1, beta *= beta) {
    if (steps & 1) product *= beta;
  }
  return product;
}

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSettings& settings, std::size_t elements)
      : rate_(static_cast<float>(settings.learning_rate)),
        momentum_(static_cast<float>(settings.momentum)),
        decay_(static_cast<float>(settings.weight_decay)),
        velocity_(momentum_ == 0 ? 0 : elements) {}

  void step(std::span<const float> gradient, std::span<float> weights) override {
    const float* __restrict g = gradient.data();
    float* __restrict w = weights.data();
    float* __restrict v = velocity_.data();
    const std::size_t n = weights.size();
    if (velocity_.empty()) {
      for (std::size_t e = 0; e < n; ++e) w[e] -= rate_ * (g[e] + decay_ * w[e]);
    } else {
      // The velocity starts at zero, so the first step needs no case of its own.
      for (std::size_t e = 0; e < n; ++e) {
        v[e] = momentum_ * v[e] + (g[e] + decay_ * w[e]);
        w[e] -= rate_ * v[e];
      }
    }
    ++steps_;
  }
  std::vector<std::span<float>> buffers() override { return {std::span<float>(velocity_)}; }

 private:
  float rate_, momentum_, decay_;
  std::vector<float> velocity_;
};

class Adam final : public Optimizer {
 public:
  Adam(const OptimizerSettings& settings, std::size_t elements)
      : rate_(settings.learning_rate),
        decay_(static_cast<float>(settings.weight_decay)),
        first_(elements),
        second_(elements) {}

  void step(std::span<const float> gradient, std::span<float> weights) override {
    ++steps_;
    const auto [rate, root] = adam_factors(rate_, steps_);
    const auto b1 = static_cast<float>(AdamFactors::kBeta1);
    const auto b2 = static_cast<float>(AdamFactors::kBeta2);
    const std::size_t n = weights.size();
    for (std::size_t e = 0; e < n; ++e) {
      const float g = gradient[e] + decay_ * weights[e];
      first_[e] = b1 * first_[e] + (1 - b1) * g;
      second_[e] = b2 * second_[e] + (1 - b2) * (g * g);
      weights[e] -= rate * first_[e] / (std::sqrt(second_[e]) * root + 1e-8f);
    }
  }
  std::vector<std::span<float>> buffers() override {
    return {std::span<float>(first_), std::span<float>(second_)};
  }

 private:
  double rate_;
  float decay_;
  std::vector<float> first_, second_;
};

}  // namespace

AdamFactors adam_factors(double rate, std::int64_t steps) {
  return {static_cast<float>(rate / (1 - power(AdamFactors::kBeta1, steps))),
          static_cast<float>(1 / std::sqrt(1 - power(AdamFactors::kBeta2, steps)))};
}

OptimizerKind optimizer_kind(const std::string& name) {
  if (name == "sgd") return OptimizerKind::kSgd;
  if (name == "adam") return OptimizerKind::kAdam;
  throw TrainerError("make optimizer", name, "there is no such optimizer", "choose sgd or adam");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings, std::size_t elements) {
  switch (optimizer_kind(settings.name)) {
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(settings, elements);
    case OptimizerKind::kAdam:
      return std::make_unique<Adam>(settings, elements);
  }
  GRADWIRE_ASSERT(false);
  return nullptr;
}

}  // namespace gradwire::trainers
