#include <cmath>

#include "trainers/updates/catalogue.h"
#include "trainers/updates/norms.h"
#include "trainers/updates/sgd_step.h"

namespace gradwire::trainers {
namespace {

/// You, Gitman, Ginsburg 2017 (arXiv 1708.03888, section 4, equation 6 and algorithm 1), for each
/// tensor by itself:
///
///   r = eta |w| / (|g| + wd |w|);  v = m v + lr r (g + wd w);  w -= v
///
/// with 2-norms; r = 1 where |w| or the divisor is 0. The rate stands within the velocity, as in
/// the paper. Excluded tensors take plain sgd with momentum: g without wd, and the rate outside.
class Lars final : public UpdateRule {
 public:
  explicit Lars(const OptionValues& options)
      : momentum_(static_cast<float>(options.number("momentum"))),
        decay_(options.number("weight_decay")),
        eta_(options.number("eta")),
        exclude_(exclude_of(options)) {}

  const char* name() const override { return "lars"; }
  std::size_t buffers() const override { return 1; }
  /// Reads g and w for the norms; then reads g, w and v, writes w and v.
  int bytes_per_element() const override { return exclude_ == Exclude::kAll ? 20 : 28; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    for (const auto& [t, slot, offset] : tensors_in(layout, ranges, name())) {
      const auto n = static_cast<std::size_t>(slot->count);
      const float* const g = gradient.of(layout, t);
      float* const w = weights.data() + slot->first;
      float* const v = state.data() + offset;
      if (excludes(exclude_, *slot))
        sgd_step(static_cast<float>(at.rate), momentum_, 0.0f, n, g, w, v);
      else
        adapted(at.rate, n, g, w, v);
    }
  }

 private:
  void adapted(double rate, std::size_t n, const float* __restrict g, float* __restrict w,
               float* __restrict v) const {
    const auto scale = static_cast<float>(rate * ratio(n, g, w));
    const auto decay = static_cast<float>(decay_);
    for (std::size_t e = 0; e < n; ++e) {
      v[e] = momentum_ * v[e] + scale * (g[e] + decay * w[e]);
      w[e] -= v[e];
    }
  }

  double ratio(std::size_t n, const float* g, const float* w) const {
    const double weights = std::sqrt(sum_of_squares(n, [w](std::size_t e) { return w[e]; }));
    const double gradients = std::sqrt(sum_of_squares(n, [g](std::size_t e) { return g[e]; }));
    const double divisor = gradients + decay_ * weights;
    return weights > 0 && divisor > 0 ? eta_ * weights / divisor : 1;
  }

  float momentum_;
  double decay_, eta_;
  Exclude exclude_;
};

}  // namespace

UpdateInfo lars_row() {
  return {.name = "lars",
          .summary = "SGD with momentum, each tensor's rate in proportion to |w| / |g|.",
          .source = "You, Gitman, Ginsburg 2017, arXiv 1708.03888, algorithm 1",
          .options = {momentum_option("0.9"),
                      {.name = "weight_decay",
                       .type = OptionType::kNumber,
                       .default_text = "0",
                       .help = "L2 penalty, added to the gradient and to the trust ratio's divisor "
                               "(arXiv 1708.03888, equation 6).",
                       .min = 0,
                       .max = 10},
                      {.name = "eta",
                       .type = OptionType::kNumber,
                       .default_text = "0.001",
                       .help = "Trust coefficient of the ratio eta |w| / (|g| + wd |w|) (arXiv "
                               "1708.03888, section 4).",
                       .min = 0,
                       .max = 1,
                       .min_exclusive = true},
                      exclude_option()},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Lars>(options);
          },
          .large_rates = true,
          .whole_tensors = true};
}

}  // namespace gradwire::trainers
