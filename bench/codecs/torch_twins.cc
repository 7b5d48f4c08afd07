#include "bench/codecs/torch_twins.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

/// Each scheme in the operations, and with the types on the wire (a byte a code, 8-byte indices),
/// that published PyTorch code for it uses.
namespace gradwire::bench {
namespace {

using at::Tensor;

class Scheme {
 public:
  virtual ~Scheme() = default;
  virtual void encode(const Tensor& values) = 0;
  virtual Tensor decode() const = 0;
  /// What is not sent of `values`, which may be changed.
  virtual Tensor residual(Tensor& values) const { return values - decode(); }
};

template <at::ScalarType kType>
class Cast final : public Scheme {
 public:
  void encode(const Tensor& values) override { sent_ = values.to(kType); }
  Tensor decode() const override { return sent_.to(at::kFloat); }

 private:
  Tensor sent_;
};

/// Uniform grid between the extremes of each row; stochastic = false rounds to the nearest level.
class Grid final : public Scheme {
 public:
  Grid(std::int64_t columns, int levels) : columns_(columns), levels_(levels) {}
  void encode(const Tensor& values) override {
    const Tensor rows = columns_ > 0 ? values.view({-1, columns_}) : values.view({1, -1});
    low_ = rows.amin(1, true);
    unit_ = (rows.amax(1, true) - low_) / levels_;
    codes_ = ((rows - low_) / unit_).round().clamp(0, levels_).to(at::kByte);
  }
  Tensor decode() const override { return (codes_.to(at::kFloat) * unit_ + low_).flatten(); }

 private:
  std::int64_t columns_;
  int levels_;
  Tensor low_, unit_, codes_;
};

class TernGrad final : public Scheme {
 public:
  explicit TernGrad(bool shared_scale) : shared_scale_(shared_scale) {}
  void encode(const Tensor& values) override {
    if (!shared_scale_ || !scale_.defined()) {
      const Tensor limit = 2.5 * values.std();
      clipped_ = values.clamp(-limit, limit);
      scale_ = clipped_.abs().max();
    }
    const Tensor& kept = shared_scale_ ? values : clipped_;
    const Tensor keep = at::rand_like(kept) * scale_ < kept.abs();
    codes_ = (kept.sign() * keep).to(at::kChar);
  }
  Tensor decode() const override { return codes_.to(at::kFloat) * scale_; }

 private:
  bool shared_scale_;
  Tensor scale_, clipped_, codes_;
};

class Qsgd final : public Scheme {
 public:
  void encode(const Tensor& values) override {
    const Tensor buckets = values.view({-1, values.numel() % 512 == 0 ? 512 : values.numel()});
    norm_ = buckets.norm(2, {1}, true);
    const Tensor level = buckets.abs() * (kLevels / norm_);
    const Tensor lower = level.floor();
    const Tensor up = at::rand_like(level) < level - lower;
    codes_ = ((lower + up) * buckets.sign()).to(at::kChar);
  }
  Tensor decode() const override { return (codes_.to(at::kFloat) * (norm_ / kLevels)).flatten(); }

 private:
  static constexpr int kLevels = 7;
  Tensor norm_, codes_;
};

class Sign final : public Scheme {
 public:
  void encode(const Tensor& values) override {
    scale_ = values.abs().mean();
    bits_ = (values >= 0).to(at::kByte);
  }
  Tensor decode() const override { return (bits_.to(at::kFloat) * 2 - 1) * scale_; }

 private:
  Tensor scale_, bits_;
};

class Natural final : public Scheme {
 public:
  void encode(const Tensor& values) override {
    const auto [mantissa, exponent] = at::frexp(values.abs());
    const Tensor up = at::rand_like(mantissa) < 2 * mantissa - 1;
    exponents_ = (exponent - 1 + up).clamp(-127, 127).to(at::kChar);
    signs_ = values.sign().to(at::kChar);
  }
  Tensor decode() const override { return at::ldexp(signs_.to(at::kFloat), exponents_); }

 private:
  Tensor exponents_, signs_;
};

/// Entries at some places of a flat tensor of n.
class Sparse : public Scheme {
 public:
  Tensor decode() const override {
    return at::zeros({n_}, at::kFloat).scatter_(0, indices_, sent());
  }
  Tensor residual(Tensor& values) const override { return values.scatter_(0, indices_, 0.0); }

 protected:
  static std::int64_t count_of(std::int64_t n) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(0.01 * n)));
  }
  virtual Tensor sent() const { return entries_; }
  void keep(const Tensor& values, Tensor indices) {
    n_ = values.numel();
    indices_ = std::move(indices);
    entries_ = values.gather(0, indices_);
  }
  std::int64_t n_ = 0;
  Tensor indices_, entries_;
};

class TopK final : public Sparse {
 public:
  void encode(const Tensor& values) override {
    keep(values, std::get<1>(values.abs().topk(count_of(values.numel()), 0, true, false)));
  }
};

class RandomK final : public Sparse {
 public:
  void encode(const Tensor& values) override {
    const std::int64_t n = values.numel();
    keep(values, at::randint(n, {count_of(n)}, at::kLong));
  }
};

/// The threshold is that of a sample of 1 %.
class Dgc final : public Sparse {
 public:
  void encode(const Tensor& values) override {
    const std::int64_t n = values.numel(), sampled = count_of(n);
    const Tensor importance = values.abs();
    const Tensor sample = importance.index_select(0, at::randint(n, {sampled}, at::kLong));
    const Tensor threshold = std::get<0>(sample.topk(count_of(sampled))).min();
    keep(values, (importance >= threshold).nonzero().view(-1));
  }
};

class Stc final : public Sparse {
 public:
  void encode(const Tensor& values) override {
    keep(values, std::get<1>(values.abs().topk(count_of(values.numel()), 0, true, false)));
    mean_ = entries_.abs().mean();
    signs_ = entries_.sign().to(at::kChar);
  }
  Tensor residual(Tensor& values) const override { return values - decode(); }

 private:
  Tensor sent() const override { return signs_.to(at::kFloat) * mean_; }
  Tensor mean_, signs_;
};

/// Rank 4, one power iteration from the last factor, as torch.distributed's hook does it.
class PowerSgd final : public Scheme {
 public:
  PowerSgd(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), right_(at::randn({columns, kRank})) {}
  void encode(const Tensor& values) override {
    const Tensor matrix = values.view({rows_, columns_});
    left_ = matrix.matmul(right_);
    for (int i = 0; i < kRank; ++i) orthogonalize(i);
    right_ = matrix.t().matmul(left_);
  }
  Tensor decode() const override { return left_.matmul(right_.t()).flatten(); }

 private:
  void orthogonalize(int i) {
    Tensor column = left_.narrow(1, i, 1);
    column.div_(column.norm() + 1e-8);
    if (i + 1 == kRank) return;
    Tensor rest = left_.narrow(1, i + 1, kRank - i - 1);
    rest.sub_((column * rest).sum(0) * column);
  }
  static constexpr int kRank = 4;
  std::int64_t rows_, columns_;
  Tensor left_, right_;
};

using SchemeMaker = std::unique_ptr<Scheme> (*)(const TorchTwinSpec& spec);

template <class Made>
std::unique_ptr<Scheme> made(const TorchTwinSpec&) {
  return std::make_unique<Made>();
}

/// By the codec's name. Null where there is no twin.
std::unique_ptr<Scheme> make_scheme(const std::string& codec, const TorchTwinSpec& spec) {
  using Spec = const TorchTwinSpec&;
  using Made = std::unique_ptr<Scheme>;
  static const std::map<std::string, SchemeMaker> makers = {
      {"fp16", made<Cast<at::kHalf>>},
      {"bf16", made<Cast<at::kBFloat16>>},
      {"int8", [](Spec) -> Made { return std::make_unique<Grid>(0, 255); }},
      {"minmax",
       [](Spec shape) -> Made {
         return std::make_unique<Grid>(shape.rows * shape.columns % 1024 == 0 ? 1024 : 0, 15);
       }},
      {"terngrad", [](Spec) -> Made { return std::make_unique<TernGrad>(false); }},
      {"terngrad_shared", [](Spec) -> Made { return std::make_unique<TernGrad>(true); }},
      {"qsgd", made<Qsgd>},
      {"sign", made<Sign>},
      {"natural", made<Natural>},
      {"topk", made<TopK>},
      {"randomk", made<RandomK>},
      {"dgc", made<Dgc>},
      {"stc", made<Stc>},
      {"powersgd",
       [](Spec shape) -> Made { return std::make_unique<PowerSgd>(shape.rows, shape.columns); }}};
  const auto found = makers.find(codec);
  return found == makers.end() ? nullptr : found->second(spec);
}

class Twin final : public TorchTwin {
 public:
  Twin(const TorchTwinSpec& spec, std::unique_ptr<Scheme> scheme, bool feedback)
      : threads_(spec.threads),
        scheme_(std::move(scheme)),
        values_(at::from_blob(const_cast<float*>(spec.values), {spec.rows * spec.columns},
                              at::kFloat)) {
    if (feedback) residual_ = at::zeros_like(values_);
  }
  void encode() override {
    const Quiet quiet(threads_);
    if (!residual_.defined()) return scheme_->encode(values_);
    Tensor corrected = values_ + residual_;
    scheme_->encode(corrected);
    residual_ = scheme_->residual(corrected);
  }
  void decode() override {
    const Quiet quiet(threads_);
    decoded_ = scheme_->decode();
  }

 private:
  /// No autograd, and as many threads as were asked for.
  struct Quiet {
    explicit Quiet(int threads) { at::set_num_threads(threads); }
    c10::InferenceMode inference;
  };
  int threads_;
  std::unique_ptr<Scheme> scheme_;
  Tensor values_, residual_, decoded_;
};

}  // namespace
}  // namespace gradwire::bench

extern "C" __attribute__((visibility("default"))) gradwire::bench::TorchTwin*
gradwire_make_torch_twin(const gradwire::bench::TorchTwinSpec& spec) {
  using namespace gradwire::bench;
  const c10::InferenceMode inference;
  std::string codec = spec.label;
  const bool feedback = codec.ends_with("_ef");
  if (feedback) codec.resize(codec.size() - 3);
  auto scheme = make_scheme(codec, spec);
  return scheme ? new Twin(spec, std::move(scheme), feedback) : nullptr;
}
