#include "trainers/timing/method_twins.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <functional>
#include <map>

namespace gradwire::trainers {
namespace {

using at::Tensor;

constexpr double kRate = 0.01, kMomentum = 0.9;

/// Of one tensor: messages of all workers become their mean.
using Combine = std::function<Tensor(std::vector<Tensor>& gradients, std::size_t tensor)>;

class Twin : public MethodTwin {
 public:
  explicit Twin(TwinGradients gradients) : gradients_(std::move(gradients)) {
    for (const Tensor& gradient : gradients_[0]) {
      weights_.push_back(at::zeros_like(gradient));
      velocity_.push_back(at::zeros_like(gradient));
    }
  }
  void step() override {
    const c10::InferenceMode inference;
    for (std::size_t t = 0; t < weights_.size(); ++t) {
      std::vector<Tensor> of_workers;
      for (const auto& own : gradients_) of_workers.push_back(own[t]);
      update(t, mean(of_workers, t));
    }
  }

 protected:
  std::size_t workers() const { return gradients_.size(); }
  virtual Tensor mean(std::vector<Tensor>& of_workers, std::size_t tensor) = 0;
  virtual void update(std::size_t t, const Tensor& mean) {
    velocity_[t].mul_(kMomentum).add_(mean);
    weights_[t].add_(velocity_[t], -kRate);
  }
  /// A tensor for each worker and tensor, 0 at first.
  std::vector<std::vector<Tensor>> zeros() const {
    std::vector<std::vector<Tensor>> all;
    for (const auto& own : gradients_) {
      all.emplace_back();
      for (const Tensor& gradient : own) all.back().push_back(at::zeros_like(gradient));
    }
    return all;
  }

  TwinGradients gradients_;
  std::vector<Tensor> weights_, velocity_;
};

/// Each worker's message decoded at once, and added up.
class DecodedTwin : public Twin {
 public:
  using Twin::Twin;

 protected:
  virtual Tensor decoded(std::size_t worker, std::size_t tensor, const Tensor& gradient) = 0;
  virtual Tensor answered(const Tensor& mean) { return mean; }
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t tensor) override {
    Tensor sum = at::zeros_like(of_workers[0]);
    for (std::size_t w = 0; w < of_workers.size(); ++w) sum.add_(decoded(w, tensor, of_workers[w]));
    return answered(sum.div_(static_cast<double>(of_workers.size())));
  }
};

Tensor qsgd(const Tensor& values, double levels, std::int64_t bucket) {
  const Tensor rows = values.view({-1, values.numel() % bucket == 0 ? bucket : values.numel()});
  const Tensor norm = std::get<0>(rows.abs().max(1, true));
  const Tensor level = rows.abs() * (levels / norm);
  const Tensor lower = level.floor();
  const Tensor up = at::rand_like(level) < level - lower;
  const Tensor codes = ((lower + up) * rows.sign()).to(at::kChar);
  return (codes.to(at::kFloat) * (norm / levels)).view(values.sizes());
}

Tensor natural(const Tensor& values) {
  const auto [mantissa, exponent] = at::frexp(values.abs());
  const Tensor up = at::rand_like(mantissa) < 2 * mantissa - 1;
  const Tensor exponents = (exponent - 1 + up).clamp(-127, 127).to(at::kChar);
  return at::ldexp(values.sign().to(at::kChar).to(at::kFloat), exponents);
}

/// Levels 2^-j of the largest norm, j < 8.
Tensor dither(const Tensor& values) {
  const Tensor norm = values.norm();
  const Tensor scaled = natural(values / norm);
  return at::where(scaled.abs() < 1.0 / 256, at::zeros({}), scaled) * norm;
}

Tensor minmax(const Tensor& values, std::int64_t bucket, double levels) {
  const Tensor rows = values.view({-1, values.numel() % bucket == 0 ? bucket : values.numel()});
  const Tensor low = rows.amin(1, true);
  const Tensor unit = (rows.amax(1, true) - low) / levels;
  const Tensor codes = ((rows - low) / unit).round().clamp(0, levels).to(at::kByte);
  return (codes.to(at::kFloat) * unit + low).view(values.sizes());
}

std::int64_t kept_of(const Tensor& values, double share) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(values.numel()))));
}

Tensor largest(const Tensor& flat, double share) {
  return std::get<1>(flat.abs().topk(kept_of(flat, share), 0, true, false));
}

class Dense final : public Twin {
 public:
  using Twin::Twin;

 private:
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t) override {
    Tensor sum = of_workers[0].clone();
    for (std::size_t w = 1; w < of_workers.size(); ++w) sum.add_(of_workers[w]);
    return sum.div_(static_cast<double>(of_workers.size()));
  }
};

/// Matrices: momentum correction, clipping, a threshold from a sample of 1 %, masking. Vectors as
/// they are.
class Dgc final : public Twin {
 public:
  explicit Dgc(TwinGradients gradients) : Twin(std::move(gradients)), u_(zeros()), v_(zeros()) {}

 private:
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t t) override {
    Tensor sum = at::zeros_like(of_workers[0]);
    for (std::size_t w = 0; w < of_workers.size(); ++w) {
      if (of_workers[w].dim() < 2)
        sum.add_(of_workers[w]);
      else
        add_sparse(w, t, of_workers[w], sum);
    }
    return sum.div_(static_cast<double>(of_workers.size()));
  }
  void add_sparse(std::size_t w, std::size_t t, const Tensor& gradient, Tensor& sum) {
    const Tensor norm = gradient.norm();
    const Tensor clipped = gradient * (1.0 / norm.clamp_min(1.0));
    u_[w][t].mul_(kMomentum).add_(clipped);
    v_[w][t].add_(u_[w][t]);
    Tensor flat = v_[w][t].view(-1);
    const Tensor importance = flat.abs();
    const std::int64_t sampled = kept_of(flat, 0.01);
    const Tensor sample =
        importance.index_select(0, at::randint(flat.numel(), {sampled}, at::kLong));
    const Tensor threshold = std::get<0>(sample.topk(kept_of(sample, kShare))).min();
    const Tensor indices = (importance >= threshold).nonzero().view(-1);
    const Tensor values = flat.index_select(0, indices);
    flat.index_fill_(0, indices, 0.0);
    u_[w][t].view(-1).index_fill_(0, indices, 0.0);
    sum.view(-1).index_add_(0, indices, values);
  }
  void update(std::size_t t, const Tensor& mean) override {
    if (mean.dim() < 2) return Twin::update(t, mean);
    weights_[t].add_(mean, -kRate);
  }
  static constexpr double kShare = 0.001;
  std::vector<std::vector<Tensor>> u_, v_;
};

/// Clipped at 2.5 deviations, one scale for all workers, codes summed.
class TernGrad final : public Twin {
 public:
  using Twin::Twin;

 private:
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t) override {
    std::vector<Tensor> clipped;
    Tensor scale = at::zeros({});
    for (const Tensor& gradient : of_workers) {
      const Tensor limit = 2.5 * gradient.std();
      clipped.push_back(gradient.clamp(-limit, limit));
      scale = at::maximum(scale, clipped.back().abs().max());
    }
    Tensor sum = at::zeros(of_workers[0].sizes(), at::kChar);
    for (const Tensor& own : clipped) {
      const Tensor keep = at::rand_like(own) * scale < own.abs();
      sum.add_((own.sign() * keep).to(at::kChar));
    }
    return sum.to(at::kFloat) * (scale / static_cast<double>(of_workers.size()));
  }
};

class Qsgd final : public DecodedTwin {
 public:
  using DecodedTwin::DecodedTwin;

 private:
  Tensor decoded(std::size_t, std::size_t, const Tensor& gradient) override {
    return gradient.numel() < 10'000 ? gradient : qsgd(gradient, 7, 512);
  }
};

/// Both ways, through a server.
class BothWays final : public DecodedTwin {
 public:
  BothWays(TwinGradients gradients, Tensor (*code)(const Tensor&))
      : DecodedTwin(std::move(gradients)), code_(code) {}

 private:
  Tensor decoded(std::size_t, std::size_t, const Tensor& gradient) override {
    return code_(gradient);
  }
  Tensor answered(const Tensor& mean) override { return code_(mean); }
  Tensor (*code_)(const Tensor&);
};

/// The gradient less that at the last full one's weights, and the full one; then 4 bits.
class Qsvrg final : public DecodedTwin {
 public:
  explicit Qsvrg(TwinGradients gradients)
      : DecodedTwin(std::move(gradients)), before_(zeros()), full_(zeros()[0]) {}

 private:
  Tensor decoded(std::size_t w, std::size_t t, const Tensor& gradient) override {
    return qsgd(gradient - before_[w][t] + full_[t], 7, 512);
  }
  void update(std::size_t t, const Tensor& mean) override { weights_[t].add_(mean, -kRate); }
  std::vector<std::vector<Tensor>> before_;
  std::vector<Tensor> full_;
};

/// What is not below the largest value times 2^-15, as rounded logarithms, with the differences of
/// places.
Tensor fastsgd(const Tensor& values) {
  const Tensor flat = values.view(-1);
  const Tensor size = flat.abs();
  const Tensor most = size.max();
  const Tensor levels = (most / size).log2().round();
  const Tensor places = (levels <= 15).nonzero().view(-1);
  const Tensor codes = levels.index_select(0, places).to(at::kByte);
  const Tensor signs = flat.index_select(0, places).sign().to(at::kChar);
  const Tensor gaps = places.diff(1, 0, places.new_zeros({1})).to(at::kInt);
  const Tensor read = codes.to(at::kFloat).neg_().exp2_() * signs * most;
  return at::zeros_like(flat).scatter_(0, gaps.cumsum(0), read).view(values.sizes());
}

/// Powers of two within 31 octaves of the largest; weights between -1 and 1.
class Qnn final : public DecodedTwin {
 public:
  using DecodedTwin::DecodedTwin;

 private:
  Tensor decoded(std::size_t, std::size_t, const Tensor& gradient) override {
    const Tensor exponents = gradient.abs().log2().round();
    const Tensor most = exponents.max();
    const Tensor codes = (most - exponents + 1).clamp(0, 32).to(at::kByte);
    const Tensor signs = gradient.sign().to(at::kChar);
    const Tensor size = (most + 1 - codes.to(at::kFloat)).exp2() * (codes < 32);
    return size * signs;
  }
  void update(std::size_t t, const Tensor& mean) override {
    Twin::update(t, mean);
    if (mean.dim() > 1) weights_[t].clamp_(-1, 1);
  }
};

/// Owners add what they decode, and encode the sum.
class Cgx final : public DecodedTwin {
 public:
  using DecodedTwin::DecodedTwin;

 private:
  Tensor decoded(std::size_t, std::size_t, const Tensor& gradient) override {
    return gradient.dim() < 2 ? gradient : minmax(gradient, 1024, 15);
  }
  Tensor answered(const Tensor& mean) override {
    return mean.dim() < 2 ? mean : minmax(mean, 1024, 15);
  }
};

class CompAms final : public DecodedTwin {
 public:
  explicit CompAms(TwinGradients gradients)
      : DecodedTwin(std::move(gradients)),
        residual_(zeros()),
        second_(zeros()[0]),
        most_(zeros()[0]) {}

 private:
  Tensor decoded(std::size_t w, std::size_t t, const Tensor& gradient) override {
    Tensor corrected = residual_[w][t].add_(gradient).view(-1);
    const Tensor indices = largest(corrected, 0.01);
    const Tensor values = corrected.gather(0, indices);
    corrected.scatter_(0, indices, 0.0);
    return at::zeros_like(corrected).scatter_(0, indices, values).view(gradient.sizes());
  }
  void update(std::size_t t, const Tensor& mean) override {
    velocity_[t].mul_(0.9).add_(mean, 0.1);
    second_[t].mul_(0.999).addcmul_(mean, mean, 0.001);
    most_[t] = at::maximum(most_[t], second_[t]);
    weights_[t].addcdiv_(velocity_[t], (most_[t] + 1e-8).sqrt_(), -kRate);
  }
  std::vector<std::vector<Tensor>> residual_;
  std::vector<Tensor> second_, most_;
};

/// Ternary codes against a threshold of the mean magnitude; Adagrad with soft thresholds.
class SparseAdagrad final : public DecodedTwin {
 public:
  SparseAdagrad(TwinGradients gradients, bool averages)
      : DecodedTwin(std::move(gradients)), averages_(averages), squares_(zeros()[0]) {}

 private:
  Tensor decoded(std::size_t, std::size_t, const Tensor& gradient) override {
    const Tensor size = gradient.abs();
    const Tensor chosen = size >= 0.7 * size.mean();
    const Tensor scale = (size * chosen).sum() / chosen.sum();
    const Tensor codes = (gradient.sign() * chosen).to(at::kChar);
    return codes.to(at::kFloat) * scale;
  }
  void update(std::size_t t, const Tensor& mean) override {
    squares_[t].addcmul_(mean, mean, 1);
    const Tensor step = kRate / (squares_[t].sqrt() + 1e-8);
    if (averages_) velocity_[t].add_(mean);
    const Tensor u = averages_ ? -(velocity_[t] * step) : weights_[t] - mean * step;
    weights_[t] = u.sign() * (u.abs() - step * 1e-4).clamp_min(0.0);
    weights_[t].nonzero();  // what is sent back
  }
  bool averages_;
  std::vector<Tensor> squares_;
};

/// Halves are added up; a mean that is not finite would skip the step.
class MixedPrecision final : public Twin {
 public:
  using Twin::Twin;

 private:
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t) override {
    Tensor sum = of_workers[0].to(at::kHalf);
    for (std::size_t w = 1; w < of_workers.size(); ++w) sum.add_(of_workers[w].to(at::kHalf));
    const Tensor mean = sum.to(at::kFloat).div_(static_cast<double>(of_workers.size()));
    if (!mean.isfinite().all().item<bool>()) return at::zeros_like(mean);
    return mean.div(65536.0);
  }
};

/// A tenth of matrices, at the same places at all workers.
class Rigl final : public Twin {
 public:
  explicit Rigl(TwinGradients gradients) : Twin(std::move(gradients)) {
    for (const Tensor& weights : weights_)
      places_.push_back((at::rand({weights.numel()}) < 0.1).nonzero().view(-1));
  }

 private:
  Tensor mean(std::vector<Tensor>& of_workers, std::size_t t) override {
    const double share = 1.0 / static_cast<double>(of_workers.size());
    Tensor sum = kept(of_workers[0], t);
    for (std::size_t w = 1; w < of_workers.size(); ++w) sum.add_(kept(of_workers[w], t));
    sum.mul_(share);
    if (of_workers[0].dim() < 2) return sum;
    return at::zeros({of_workers[0].numel()})
        .scatter_(0, places_[t], sum)
        .view(of_workers[0].sizes());
  }
  Tensor kept(const Tensor& gradient, std::size_t t) const {
    return gradient.dim() < 2 ? gradient.clone() : gradient.view(-1).index_select(0, places_[t]);
  }
  std::vector<Tensor> places_;
};

using TwinMaker = std::unique_ptr<MethodTwin> (*)(TwinGradients gradients);

template <class Made>
std::unique_ptr<MethodTwin> twin_of(TwinGradients gradients) {
  return std::make_unique<Made>(std::move(gradients));
}

}  // namespace

std::unique_ptr<MethodTwin> make_method_twin(const std::string& method, TwinGradients gradients) {
  using Made = std::unique_ptr<MethodTwin>;
  static const std::map<std::string, TwinMaker> makers = {
      {"none", twin_of<Dense>},
      {"batch-augmentation", twin_of<Dense>},
      {"dgc", twin_of<Dgc>},
      {"terngrad", twin_of<TernGrad>},
      {"qsgd", twin_of<Qsgd>},
      {"qsvrg", twin_of<Qsvrg>},
      {"natural",
       [](TwinGradients g) -> Made { return std::make_unique<BothWays>(std::move(g), natural); }},
      {"dither",
       [](TwinGradients g) -> Made { return std::make_unique<BothWays>(std::move(g), dither); }},
      {"fastsgd",
       [](TwinGradients g) -> Made { return std::make_unique<BothWays>(std::move(g), fastsgd); }},
      {"cgx", twin_of<Cgx>},
      {"comp-ams", twin_of<CompAms>},
      {"qcmd",
       [](TwinGradients g) -> Made {
         return std::make_unique<SparseAdagrad>(std::move(g), false);
       }},
      {"qrda",
       [](TwinGradients g) -> Made { return std::make_unique<SparseAdagrad>(std::move(g), true); }},
      {"mixed-precision", twin_of<MixedPrecision>},
      {"qnn", twin_of<Qnn>},
      {"rigl", twin_of<Rigl>}};
  const auto found = makers.find(method);
  const c10::InferenceMode inference;
  return found == makers.end() ? nullptr : found->second(std::move(gradients));
}

}  // namespace gradwire::trainers
