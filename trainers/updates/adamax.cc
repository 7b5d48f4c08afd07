#include <algorithm>

#include "trainers/updates/adam_factors.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// Kingma and Ba 2015 (arXiv 1412.6980, section 7.1, algorithm 2), adam with the infinity norm:
///
///   g' = g + wd w;  m = b1 m + (1 - b1) g';  u = max(b2 u, |g'|);  w -= lr / (1 - b1^t) m / u
///
/// Where u is 0, the element has had no gradient yet and stays; the paper leaves 0 / 0 open.
class Adamax final : public UpdateRule {
 public:
  explicit Adamax(const OptionValues& options)
      : beta1_(options.number("beta1")),
        beta2_(options.number("beta2")),
        decay_(static_cast<float>(options.number("weight_decay"))) {}

  const char* name() const override { return "adamax"; }
  std::size_t buffers() const override { return 2; }
  /// Reads g, w, m and u, writes w, m and u.
  int bytes_per_element() const override { return 28; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const float rate = adam_factors(at.rate, at.number, beta1_, beta2_).rate;
    const auto b1 = static_cast<float>(beta1_);
    const auto b2 = static_cast<float>(beta2_);
    const float decay = decay_;
    const std::int64_t elements = elements_of(ranges);
    visit_gradient(layout, ranges, gradient,
                   [&](const float* __restrict gradients, std::int64_t first, std::int64_t offset,
                       std::size_t n) {
                     float* __restrict w = weights.data() + first;
                     float* __restrict m = buffer_of(state, 0, elements) + offset;
                     float* __restrict u = buffer_of(state, 1, elements) + offset;
                     for (std::size_t e = 0; e < n; ++e) {
                       const float g = gradients[e] + decay * w[e];
                       m[e] = b1 * m[e] + (1 - b1) * g;
                       u[e] = std::max(b2 * u[e], std::fabs(g));
                       w[e] -= u[e] > 0 ? rate * m[e] / u[e] : 0.0f;
                     }
                   });
  }

 private:
  double beta1_, beta2_;
  float decay_;
};

}  // namespace

UpdateInfo adamax_row() {
  return {.name = "adamax",
          .summary = "Adam with the greatest gradient of late in place of the second moment.",
          .source = "Kingma, Ba 2015, arXiv 1412.6980, section 7.1, algorithm 2",
          .options = {l2_option(), beta1_option(), beta2_option()},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Adamax>(options);
          }};
}

}  // namespace gradwire::trainers
