#include "trainers/updates/catalogue.h"

namespace gradwire::trainers {
namespace {

/// Quasi-global momentum (Lin, Karimireddy, Stich, Jaggi, arXiv 2102.04761), in Nesterov's form as
/// the code of arXiv 2111.09389 has it. A worker's own step, x being its weights at the start of
/// it and z what they are after neighbours' have been mixed in:
///
///   g' = g + wd x;   x <- x - lr (g' + m (m v + g'));   v <- m v + (1 - m) (x_start - z) / lr
///
/// v follows what all workers do together, not the worker's own samples.
class QuasiGlobal final : public UpdateRule {
 public:
  explicit QuasiGlobal(const OptionValues& options)
      : momentum_(static_cast<float>(options.number("momentum"))),
        decay_(static_cast<float>(options.number("weight_decay"))) {}

  const char* name() const override { return "quasi-global"; }
  std::size_t buffers() const override { return 1; }
  /// Reads g, w and v, writes w; after mixing reads two copies of w and v, writes v.
  int bytes_per_element() const override { return 32; }
  bool watches_mixing() const override { return true; }

  void step(const Layout& layout, ElementRanges ranges, const UpdateStep& at,
            const GradientView& gradient, std::span<float> weights,
            std::span<float> state) const override {
    const auto rate = static_cast<float>(at.rate);
    const float momentum = momentum_, decay = decay_;
    visit_gradient(
        layout, ranges, gradient,
        [&](const float* __restrict g, std::int64_t first, std::int64_t offset, std::size_t n) {
          float* __restrict w = weights.data() + first;
          const float* __restrict v = state.data() + offset;
          for (std::size_t e = 0; e < n; ++e) {
            const float decayed = g[e] + decay * w[e];
            w[e] -= rate * (decayed + momentum * (momentum * v[e] + decayed));
          }
        });
  }

  void mixed(ElementRanges ranges, const UpdateStep& at, std::span<const float> before,
             std::span<const float> after, std::span<float> state) const override {
    if (at.rate == 0) return;  // nothing was learned in such a step
    const float share = (1 - momentum_) / static_cast<float>(at.rate), momentum = momentum_;
    visit_ranges(ranges, [&](std::int64_t first, std::int64_t offset, std::size_t n) {
      const float* __restrict from = before.data() + first;
      const float* __restrict to = after.data() + first;
      float* __restrict v = state.data() + offset;
      for (std::size_t e = 0; e < n; ++e) v[e] = momentum * v[e] + share * (from[e] - to[e]);
    });
  }

 private:
  float momentum_, decay_;
};

}  // namespace

UpdateInfo quasi_global_row() {
  return {.name = "quasi-global",
          .summary = "Momentum of what a worker and its neighbours do together; for gossip.",
          .source = "Lin et al. 2021, arXiv 2102.04761, algorithm 1",
          .options = {momentum_option("0.9"), l2_option()},
          .make = [](const OptionValues& options) -> std::unique_ptr<UpdateRule> {
            return std::make_unique<QuasiGlobal>(options);
          },
          .of_gossip = true};
}

}  // namespace gradwire::trainers
