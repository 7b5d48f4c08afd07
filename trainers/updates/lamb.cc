#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "trainers/updates/adam_factors.h"
#include "trainers/updates/catalogue.h"
#include "trainers/updates/norms.h"

namespace gradwire::trainers {
namespace {

/// 0 stands for "no bound".
double upper_bound_of(double option) {
  return option > 0 ? option : std::numeric_limits<double>::infinity();
}

/// You et al. 2019 (arXiv 1904.00962, algorithm 2), for each tensor by itself:
///
///   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
///   u = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + e) + wd w
///   w -= lr (phi(|w|) / |u|) u,  phi(z) = min(max(z, norm_min), norm_max)
///
/// with 2-norms; the ratio is 1 where phi(|w|) or |u| is 0. The paper bounds |w| alone;
/// `ratio_min` and `ratio_max` bound the ratio itself, as some programs do. Excluded tensors take
/// ratio 1 and wd 0, which is adam.
class Lamb final : public UpdateRule {
 public:
  explicit Lamb(const OptionValues& options)
      : beta1_(options.number("beta1")),
        beta2_(options.number("beta2")),
        epsilon_(static_cast<float>(options.number("epsilon"))),
        decay_(static_cast<float>(options.number("weight_decay"))),
        norm_min_(options.number("norm_min")),
        norm_max_(upper_bound_of(options.number("norm_max"))),
        ratio_min_(options.number("ratio_min")),
        ratio_max_(upper_bound_of(options.number("ratio_max"))),
        exclude_(exclude_of(options)) {
    if (norm_min_ > norm_max_ || ratio_min_ > ratio_max_)
      throw Error(ErrorKind::kUsage, "make optimizer", "lamb",
                  "a lower bound is above its upper bound",
                  "norm_min <= norm_max and ratio_min <= ratio_max");
  }

  const char* name() const override { return "lamb"; }
  std::size_t buffers() const override { return 2; }
  /// Reads g, w, m and v, writes m and v, for the norms; then reads w, m and v, writes w.
  int bytes_per_element() const override { return 40; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const auto [unbiased, root] = adam_factors(1, at.number, beta1_, beta2_);
    const std::int64_t elements = elements_of(ranges);
    for (const auto& [t, slot, offset] : tensors_in(layout, ranges, name())) {
      const auto n = static_cast<std::size_t>(slot->count);
      float* const m = buffer_of(state, 0, elements) + offset;
      float* const v = buffer_of(state, 1, elements) + offset;
      float* const w = weights.data() + slot->first;
      moments(n, gradient.of(layout, t), m, v);
      const bool excluded = excludes(exclude_, *slot);
      const Direction direction{m, v, w, unbiased, root, epsilon_, excluded ? 0 : decay_};
      const double ratio = excluded ? 1 : trust_ratio(n, direction);
      const auto rate = static_cast<float>(at.rate * ratio);
      for (std::size_t e = 0; e < n; ++e) w[e] -= rate * direction(e);
    }
  }

 private:
  /// u above.
  struct Direction {
    const float *m, *v, *w;
    float unbiased, root, epsilon, decay;
    float operator()(std::size_t e) const {
      return unbiased * m[e] / (std::sqrt(v[e]) * root + epsilon) + decay * w[e];
    }
  };

  void moments(std::size_t n, const float* __restrict g, float* __restrict m,
               float* __restrict v) const {
    const auto b1 = static_cast<float>(beta1_);
    const auto b2 = static_cast<float>(beta2_);
    for (std::size_t e = 0; e < n; ++e) {
      m[e] = b1 * m[e] + (1 - b1) * g[e];
      v[e] = b2 * v[e] + (1 - b2) * (g[e] * g[e]);
    }
  }

  double trust_ratio(std::size_t n, const Direction& direction) const {
    const float* const w = direction.w;
    const double norm = std::sqrt(sum_of_squares(n, [w](std::size_t e) { return w[e]; }));
    const double weights = std::clamp(norm, norm_min_, norm_max_);
    const double change = std::sqrt(sum_of_squares(n, direction));
    const double ratio = weights > 0 && change > 0 ? weights / change : 1;
    return std::clamp(ratio, ratio_min_, ratio_max_);
  }

  double beta1_, beta2_;
  float epsilon_, decay_;
  double norm_min_, norm_max_, ratio_min_, ratio_max_;
  Exclude exclude_;
};

OptionSpec bound_option(const char* name, const char* help) {
  return {.name = name,
          .type = OptionType::kNumber,
          .default_text = "0",
          .help = help,
          .min = 0,
          .max = 1e30};
}

}  // namespace

UpdateInfo lamb_row() {
  return {.name = "lamb",
          .summary = "Adam, each tensor's step as long as lr |w|.",
          .source = "You et al. 2019, arXiv 1904.00962, algorithm 2",
          .options = {{.name = "weight_decay",
                       .type = OptionType::kNumber,
                       .default_text = "0.01",
                       .help = "Decay of the weights, added to the step beside the moments "
                               "(arXiv 1904.00962, algorithm 2).",
                       .min = 0,
                       .max = 10},
                      beta1_option(),
                      beta2_option(),
                      epsilon_option("1e-6"),
                      exclude_option(),
                      bound_option("norm_min", "Least |w| in the trust ratio (the paper's phi)."),
                      bound_option("norm_max",
                                   "Greatest |w| in the trust ratio (the paper's phi); 0 = none."),
                      bound_option("ratio_min", "Least trust ratio |w| / |u|."),
                      bound_option("ratio_max", "Greatest trust ratio |w| / |u|; 0 = none.")},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Lamb>(options);
          },
          .whole_tensors = true};
}

}  // namespace gradwire::trainers
