#include <algorithm>
#include <bit>

#include "compressors/arithmetic/power_of_two.h"
#include "trainers/updates/adam_factors.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// AP2(x), the nearest power of two on a log scale; 0 of 0. Beyond float's powers: the largest.
float power_near(float x) {
  const std::uint32_t magnitude = compressors::magnitude_bits(x);
  if (magnitude == 0) return 0;
  const int exponent =
      std::min(compressors::power_of_two_exponent(magnitude), compressors::kLogLargest);
  return std::copysign(compressors::power_of_two(exponent), x);
}

/// 1 / sqrt(1.5 / (fan_in + fan_out)) of weights [out, in, ...]; 1 of vectors.
double rate_of_fans(const TensorSlot& tensor) {
  if (tensor.shape.size() < 2) return 1;
  std::int64_t places = 1;  // of a convolution's kernel
  for (std::size_t d = 2; d < tensor.shape.size(); ++d) places *= tensor.shape[d];
  const std::int64_t fans = places * (tensor.shape[0] + tensor.shape[1]);
  return std::sqrt(static_cast<double>(fans) / 1.5);
}

/// Hubara et al. 2018 (arXiv 1609.07061), adamax whose divisions and products by rates are shifts:
///
///   m = b1 m + (1 - b1) g;  u = max(b2 u, |g|);  w -= AP2(lr / (1 - b1^t)) m AP2(1 / u)
///
/// The rate of a matrix is lr / sqrt(1.5 / (fan_in + fan_out)), to the nearest power of two, where
/// `layer_rates` is set. Where u is 0, the element stays.
class ShiftAdamax final : public UpdateRule {
 public:
  explicit ShiftAdamax(const OptionValues& options)
      : beta1_(options.number("beta1")),
        beta2_(options.number("beta2")),
        layer_rates_(options.boolean("layer_rates")) {}

  const char* name() const override { return "shift-adamax"; }
  std::size_t buffers() const override { return 2; }
  /// Reads g, w, m and u, writes w, m and u.
  int bytes_per_element() const override { return 28; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const float rate = adam_factors(at.rate, at.number, beta1_, beta2_).rate;
    const std::int64_t elements = elements_of(ranges);
    visit_ranges(ranges, [&](std::int64_t first, std::int64_t offset, std::size_t count) {
      const std::int64_t end = first + static_cast<std::int64_t>(count);
      for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
        const TensorSlot& slot = layout.tensors()[t];
        const std::int64_t from = std::max(first, slot.first);
        const std::int64_t to = std::min(end, slot.first + slot.count);
        if (from >= to) continue;
        const std::int64_t place = offset + (from - first);
        move(power_near(rate * layer_rate(slot)), static_cast<std::size_t>(to - from),
             gradient.of(layout, t) + (from - slot.first), weights.data() + from,
             buffer_of(state, 0, elements) + place, buffer_of(state, 1, elements) + place);
      }
    });
  }

 private:
  float layer_rate(const TensorSlot& tensor) const {
    return layer_rates_ ? power_near(static_cast<float>(rate_of_fans(tensor))) : 1.0f;
  }
  void move(float rate, std::size_t n, const float* __restrict g, float* __restrict w,
            float* __restrict m, float* __restrict u) const {
    const auto b1 = static_cast<float>(beta1_), b2 = static_cast<float>(beta2_);
    for (std::size_t e = 0; e < n; ++e) {
      m[e] = b1 * m[e] + (1 - b1) * g[e];
      u[e] = std::max(b2 * u[e], std::fabs(g[e]));
      w[e] -= u[e] > 0 ? rate * m[e] * power_near(1 / u[e]) : 0.0f;
    }
  }

  double beta1_, beta2_;
  bool layer_rates_;
};

OptionSpec shift_beta(OptionSpec beta, const char* default_text) {
  beta.default_text = default_text;
  return beta;
}

}  // namespace

UpdateInfo shift_adamax_row() {
  return {.name = "shift-adamax",
          .summary = "AdaMax with rates and divisors rounded to powers of two.",
          .source = "Hubara et al. 2018, arXiv 1609.07061, section 2.5",
          .options = {shift_beta(beta1_option(), "0.875"),
                      shift_beta(beta2_option(), "0.9990234375"),
                      {.name = "layer_rates",
                       .type = OptionType::kBoolean,
                       .default_text = "false",
                       .help = "A matrix's rate is multiplied by sqrt((fan_in + fan_out) / 1.5), "
                               "rounded to a power of two."}},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<ShiftAdamax>(options);
          }};
}

}  // namespace gradwire::trainers
