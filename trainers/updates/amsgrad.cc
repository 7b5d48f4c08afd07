#include <algorithm>

#include "trainers/updates/adam_factors.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// Reddi, Kale, Kumar 2018 (arXiv 1904.09237, algorithm 2):
///
///   g' = g + wd w;  m = b1 m + (1 - b1) g';  v = b2 v + (1 - b2) g'^2;  h = max(h, v)
///   w -= lr m / sqrt(h)
///
/// The paper has neither bias corrections nor an epsilon. `bias_correction` divides m and h as
/// adam does (LibTorch's form, where h is the greatest v before its correction). `epsilon` is added
/// to the root, or with `epsilon_inside` to h, below the root.
class Amsgrad final : public UpdateRule {
 public:
  explicit Amsgrad(const OptionValues& options)
      : beta1_(options.number("beta1")),
        beta2_(options.number("beta2")),
        epsilon_(static_cast<float>(options.number("epsilon"))),
        decay_(static_cast<float>(options.number("weight_decay"))),
        corrects_(options.boolean("bias_correction")),
        inside_(options.boolean("epsilon_inside")) {}

  const char* name() const override { return "amsgrad"; }
  std::size_t buffers() const override { return 3; }
  /// Reads g, w, m, v and h, writes w, m, v and h.
  int bytes_per_element() const override { return 36; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    AdamFactors factors{static_cast<float>(at.rate), 1};
    if (corrects_) factors = adam_factors(at.rate, at.number, beta1_, beta2_);
    // One of the two is zero.
    const float below = inside_ ? epsilon_ : 0, beside = inside_ ? 0 : epsilon_;
    const auto b1 = static_cast<float>(beta1_);
    const auto b2 = static_cast<float>(beta2_);
    const float decay = decay_;
    const std::int64_t elements = elements_of(ranges);
    visit_gradient(layout, ranges, gradient,
                   [&](const float* __restrict gradients, std::int64_t first, std::int64_t offset,
                       std::size_t n) {
                     float* __restrict w = weights.data() + first;
                     float* __restrict m = buffer_of(state, 0, elements) + offset;
                     float* __restrict v = buffer_of(state, 1, elements) + offset;
                     float* __restrict h = buffer_of(state, 2, elements) + offset;
                     for (std::size_t e = 0; e < n; ++e) {
                       const float g = gradients[e] + decay * w[e];
                       m[e] = b1 * m[e] + (1 - b1) * g;
                       v[e] = b2 * v[e] + (1 - b2) * (g * g);
                       h[e] = std::max(h[e], v[e]);
                       w[e] -=
                           factors.rate * m[e] / (std::sqrt(h[e] + below) * factors.root + beside);
                     }
                   });
  }

 private:
  double beta1_, beta2_;
  float epsilon_, decay_;
  bool corrects_, inside_;
};

}  // namespace

UpdateInfo amsgrad_row() {
  return {.name = "amsgrad",
          .summary = "Adam whose second moment never falls.",
          .source = "Reddi, Kale, Kumar 2018, arXiv 1904.09237, algorithm 2",
          .options = {l2_option(),
                      beta1_option(),
                      beta2_option(),
                      epsilon_option("1e-8"),
                      {.name = "bias_correction",
                       .type = OptionType::kBoolean,
                       .default_text = "true",
                       .help = "Correct both moments as adam does, which LibTorch does and the "
                               "paper (arXiv 1904.09237) does not."},
                      {.name = "epsilon_inside",
                       .type = OptionType::kBoolean,
                       .default_text = "false",
                       .help = "Add `epsilon` below the root instead of to it."}},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Amsgrad>(options);
          }};
}

}  // namespace gradwire::trainers
