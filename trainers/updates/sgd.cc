#include "trainers/updates/catalogue.h"
#include "trainers/updates/sgd_step.h"

namespace gradwire::trainers {
namespace {

/// g' = g + wd w; v = m v + g'; w -= lr v (v = g' at the first step; without momentum w -= lr g').
/// Nesterov: w -= lr (g' + m v). As LibTorch has them: the rate stands outside the velocity, so a
/// rate that changes acts at once (Goyal et al., arXiv 1706.02677, section 3, equation 9).
class Sgd final : public UpdateRule {
 public:
  explicit Sgd(const OptionValues& options)
      : momentum_(static_cast<float>(options.number("momentum"))),
        decay_(static_cast<float>(options.number("weight_decay"))),
        nesterov_(options.boolean("nesterov") && momentum_ != 0) {}

  const char* name() const override { return "sgd"; }
  std::size_t buffers() const override { return momentum_ == 0 ? 0 : 1; }
  /// Reads g and w, writes w; with momentum reads and writes v as well.
  int bytes_per_element() const override { return momentum_ == 0 ? 12 : 20; }
  std::optional<DeviceRule> on_device() const override {
    if (nesterov_) return {};
    return DeviceRule{DeviceRule::Kernel::kSgd, momentum_, decay_};
  }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const auto rate = static_cast<float>(at.rate);
    visit_gradient(layout, ranges, gradient,
                   [&](const float* g, std::int64_t first, std::int64_t offset, std::size_t n) {
                     float* const w = weights.data() + first;
                     if (momentum_ == 0) return sgd_step(rate, decay_, n, g, w);
                     float* const v = state.data() + offset;
                     if (nesterov_) return nesterov_step(rate, n, g, w, v);
                     sgd_step(rate, momentum_, decay_, n, g, w, v);
                   });
  }

 private:
  void nesterov_step(float rate, std::size_t n, const float* __restrict g, float* __restrict w,
                     float* __restrict v) const {
    const float momentum = momentum_, decay = decay_;
    for (std::size_t e = 0; e < n; ++e) {
      const float decayed = g[e] + decay * w[e];
      v[e] = momentum * v[e] + decayed;
      w[e] -= rate * (decayed + momentum * v[e]);
    }
  }

  float momentum_, decay_;
  bool nesterov_;
};

}  // namespace

UpdateInfo sgd_row() {
  return {.name = "sgd",
          .summary = "Stochastic gradient descent, with momentum or Nesterov's momentum.",
          .source = "Polyak 1964; Sutskever et al. 2013, section 2",
          .options = {momentum_option("0"),
                      l2_option(),
                      {.name = "nesterov",
                       .type = OptionType::kBoolean,
                       .default_text = "false",
                       .help = "Step along the gradient and the new velocity together "
                               "(Sutskever et al. 2013)."}},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Sgd>(options);
          },
          .sums_gradients = true};
}

}  // namespace gradwire::trainers
