#include <cmath>

#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// Adagrad with an l1 penalty (Duchi, Hazan, Singer 2011, sections 2 and 5). Of each element
///
///   G = G + g^2;  H = delta + sqrt(G)
///
/// and by composite mirror descent, with u = w - lr g / H,
///
///   w = sign(u) max(|u| - l1 lr / H, 0)
///
/// or by regularised dual averaging, with the mean a of all gradients so far, t of them,
///
///   w = -sign(a) (lr t / H) max(|a| - l1, 0)
///
/// which forgets where w was: it starts at 0.
class Adagrad final : public UpdateRule {
 public:
  Adagrad(const OptionValues& options, bool averages)
      : l1_(static_cast<float>(options.number("l1"))),
        delta_(static_cast<float>(options.number("delta"))),
        averages_(averages) {}

  const char* name() const override { return averages_ ? "adagrad-rda" : "adagrad-cmd"; }
  std::size_t buffers() const override { return averages_ ? 2 : 1; }
  bool keeps_momentum() const override { return false; }
  /// Reads g, w (or S) and G, writes w and G (and S).
  int bytes_per_element() const override { return averages_ ? 24 : 20; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const std::int64_t elements = elements_of(ranges);
    visit_gradient(
        layout, ranges, gradient,
        [&](const float* __restrict g, std::int64_t first, std::int64_t offset, std::size_t n) {
          float* __restrict w = weights.data() + first;
          float* __restrict squares = buffer_of(state, 0, elements) + offset;
          if (averages_)
            average(at, n, g, w, squares, buffer_of(state, 1, elements) + offset);
          else
            descend(at, n, g, w, squares);
        });
  }

 private:
  void descend(const UpdateStep& at, std::size_t n, const float* __restrict g, float* __restrict w,
               float* __restrict squares) const {
    const auto rate = static_cast<float>(at.rate);
    const float l1 = l1_, delta = delta_;  // members might be written through w
    for (std::size_t e = 0; e < n; ++e) {
      squares[e] += g[e] * g[e];
      const float step = rate / (delta + std::sqrt(squares[e]));
      const float u = w[e] - step * g[e];
      const float size = std::fabs(u) - l1 * step;
      w[e] = std::copysign(size < 0.0f ? 0.0f : size, u);
    }
  }

  void average(const UpdateStep& at, std::size_t n, const float* __restrict g, float* __restrict w,
               float* __restrict squares, float* __restrict sums) const {
    const auto steps = static_cast<float>(at.number);
    const auto rate = static_cast<float>(at.rate * static_cast<double>(at.number));
    const float l1 = l1_, delta = delta_;
    for (std::size_t e = 0; e < n; ++e) {
      squares[e] += g[e] * g[e];
      sums[e] += g[e];
      const float mean = sums[e] / steps;
      const float size = rate / (delta + std::sqrt(squares[e]));
      const float above = std::fabs(mean) - l1;
      w[e] = -std::copysign(size * (above < 0.0f ? 0.0f : above), mean);
    }
  }

  float l1_, delta_;
  bool averages_;
};

OptionTable adagrad_options() {
  return {{.name = "l1",
           .type = OptionType::kNumber,
           .default_text = "0.001",
           .help = "Weight of the l1 penalty, which makes weights zero; 0: plain Adagrad.",
           .min = 0,
           .max = 10},
          {.name = "delta",
           .type = OptionType::kNumber,
           .default_text = "0.001",
           .help = "Added to the root of the sum of squares, so that an element without gradients "
                   "divides nothing by 0.",
           .min = 0,
           .max = 10,
           .min_exclusive = true}};
}

}  // namespace

UpdateInfo adagrad_cmd_row() {
  return {.name = "adagrad-cmd",
          .summary = "Adagrad with an l1 penalty, by composite mirror descent.",
          .source = "Duchi, Hazan, Singer 2011, JMLR 12, sections 2 and 5",
          .options = adagrad_options(),
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Adagrad>(options, false);
          },
          .large_rates = true};
}

UpdateInfo adagrad_rda_row() {
  return {.name = "adagrad-rda",
          .summary = "Adagrad with an l1 penalty, by regularised dual averaging: sparser.",
          .source = "Duchi, Hazan, Singer 2011, JMLR 12, sections 2 and 5",
          .options = adagrad_options(),
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<Adagrad>(options, true);
          },
          .large_rates = true,
          .starts_at_zero = true};
}

}  // namespace gradwire::trainers
