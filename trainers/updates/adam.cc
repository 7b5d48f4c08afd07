#include "trainers/updates/adam_factors.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// Kingma and Ba 2015 (arXiv 1412.6980, algorithm 1), as LibTorch has it:
///
///   g' = g + wd w;  m = b1 m + (1 - b1) g';  v = b2 v + (1 - b2) g'^2
///   w -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + e)
class Adam final : public UpdateRule {
 public:
  explicit Adam(const OptionValues& options)
      : beta1_(options.number("beta1")),
        beta2_(options.number("beta2")),
        epsilon_(static_cast<float>(options.number("epsilon"))),
        decay_(static_cast<float>(options.number("weight_decay"))) {}

  const char* name() const override { return "adam"; }
  std::size_t buffers() const override { return 2; }
  /// Reads g, w, m and v, writes w, m and v.
  int bytes_per_element() const override { return 28; }
  std::optional<DeviceRule> on_device() const override {
    if (beta1_ != AdamFactors::kBeta1 || beta2_ != AdamFactors::kBeta2 || epsilon_ != 1e-8f)
      return {};  // they stand in the kernel
    return DeviceRule{DeviceRule::Kernel::kAdam, 0, decay_};
  }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const auto [rate, root] = adam_factors(at.rate, at.number, beta1_, beta2_);
    const auto b1 = static_cast<float>(beta1_);
    const auto b2 = static_cast<float>(beta2_);
    const float decay = decay_, epsilon = epsilon_;
    const std::int64_t elements = elements_of(ranges);
    visit_gradient(
        layout, ranges, gradient,
        [&, rate = rate, root = root](const float* __restrict gradients, std::int64_t first,
                                      std::int64_t offset, std::size_t n) {
          float* __restrict w = weights.data() + first;
          float* __restrict m = buffer_of(state, 0, elements) + offset;
          float* __restrict v = buffer_of(state, 1, elements) + offset;
          for (std::size_t e = 0; e < n; ++e) {
            const float g = gradients[e] + decay * w[e];
            m[e] = b1 * m[e] + (1 - b1) * g;
            v[e] = b2 * v[e] + (1 - b2) * (g * g);
            w[e] -= rate * m[e] / (std::sqrt(v[e]) * root + epsilon);
          }
        });
  }

 private:
  double beta1_, beta2_;
  float epsilon_, decay_;
};

}  // namespace

UpdateInfo adam_row() {
  return {.name = "adam",
          .summary = "Steps along the mean gradient, each element scaled by its second moment.",
          .source = "Kingma, Ba 2015, arXiv 1412.6980, algorithm 1",
          .options = {l2_option(), beta1_option(), beta2_option(), epsilon_option("1e-8")},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Adam>(options);
          }};
}

}  // namespace gradwire::trainers
