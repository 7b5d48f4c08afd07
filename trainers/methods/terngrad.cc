#include "base/exact_text.h"
#include "compressors/codec.h"
#include "trainers/methods/rows.h"

/// TernGrad (Wen and others, arXiv 1705.07878). Worker k of N, with the gradient g of its own
/// batch, for each tensor:
///
///   g <- g cut to +-c sigma                             clipping, section 4, c = 2.5
///   s <- max over workers of max |g|                    one scaler for all, section 4
///   t_i = sign(g_i) with probability |g_i| / s, else 0  2 bits an element
///
/// and at every worker mean = s / N sum t: what travels are sums of t, in a ring or to a server and
/// back, of ceil(log2(2 N + 1)) bits once N are added. A server sends sums, never weights
/// (parameter localisation): each worker updates its own copy. `last_layer` fp32 leaves the layer
/// that gives the answer as it is, as the paper does for AlexNet. Workers keep no state.
namespace gradwire::methods {
namespace {

constexpr std::size_t kLastLayer = 1;

class TernGrad final : public Method {
 public:
  explicit TernGrad(const MethodSettings& settings)
      : whole_last_layer_(settings.options.text("last_layer") == "fp32"),
        error_feedback_(settings.error_feedback) {
    codec_.name = "terngrad";
    for (const OptionSpec& option : compressors::find_codec("terngrad")->options) {
      codec_.options[option.name] = option.type == OptionType::kNumber
                                        ? exact_text(settings.options.number(option.name))
                                        : settings.options.text(option.name);
    }
  }
  std::size_t sets() const override { return whole_last_layer_ ? 2 : 1; }
  std::size_t set_of(const TensorInfo& tensor) const override {
    return whole_last_layer_ && tensor.last_layer ? kLastLayer : 0;
  }
  SetPlan plan(std::size_t set, std::size_t) const override {
    SetPlan plan;
    if (set == kLastLayer) return plan;
    plan.up.codec = codec_;
    plan.up.error_feedback = error_feedback_;
    return plan;
  }

 private:
  bool whole_last_layer_, error_feedback_;
  compressors::CodecChoice codec_;
};

OptionTable options() {
  OptionTable table = compressors::find_codec("terngrad")->options;
  table.push_back({.name = "last_layer",
                   .type = OptionType::kChoice,
                   .default_text = "terngrad",
                   .help = "The layer that gives the answer: sent like the others, or as fp32.",
                   .choices = {"terngrad", "fp32"}});
  return table;
}

}  // namespace

MethodRow terngrad_row() {
  return {.name = "terngrad",
          .summary = "gradients as -s, 0 or s at random, with a scale that workers agree on",
          .paper = "Wen and others, TernGrad, arXiv 1705.07878",
          .state = Reproduction::kPartly,
          .schedule = "synchronous",
          .routes = "ring, tree, halving-doubling, two-level, in-network, parameter-server",
          .sends = "all tensors: 2 bits an element; the last layer as fp32 where asked",
          .page = "methods/terngrad.md",
          .options = options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<TernGrad>(settings);
          }};
}

}  // namespace gradwire::methods
