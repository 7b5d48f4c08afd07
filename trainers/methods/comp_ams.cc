#include "base/exact_text.h"
#include "trainers/methods/rows.h"

/// COMP-AMS (Li, Karimi, Li, arXiv 2205.05632). Worker i of n, with the gradient g_i of its own
/// batch and a residual e_i:
///
///   c_i = C(g_i + e_i);  e_i <- e_i + g_i - c_i;  send c_i
///
/// and the server, which alone holds m, v and h:
///
///   g = mean of c_i;  m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;  h <- max(h, v)
///   w <- w - lr m / sqrt(h + e);  send w as fp32
///
/// which is the optimiser amsgrad with bias_correction false and epsilon_inside true. C is the k of
/// largest magnitude of each tensor, or the signs of each tensor with its mean magnitude (blocks
/// are tensors). Without a parameter server every worker makes the same update.
namespace gradwire::methods {
namespace {

class CompAms final : public Method {
 public:
  explicit CompAms(const MethodSettings& settings) : error_feedback_(settings.error_feedback) {
    if (settings.options.text("compressor") == "topk")
      codec_ = {"topk", {{"ratio", exact_text(settings.options.number("ratio"))}}};
    else
      codec_ = {"sign", {{"block", "0"}, {"scale", "mean"}}};
  }
  SetPlan plan(std::size_t, std::size_t) const override {
    SetPlan plan;
    plan.up.codec = codec_;
    plan.up.error_feedback = error_feedback_;
    plan.weights_down = true;
    return plan;
  }

 private:
  bool error_feedback_;
  compressors::CodecChoice codec_;
};

OptionTable options_of_comp_ams() {
  return {{.name = "ratio",
           .type = OptionType::kNumber,
           .default_text = "0.01",
           .help = "topk: share of a tensor's elements that is sent; the paper's is 1 %.",
           .min = 0,
           .max = 1,
           .min_exclusive = true},
          {.name = "compressor",
           .type = OptionType::kChoice,
           .default_text = "topk",
           .help = "What workers send: the elements of largest magnitude, or the signs of each "
                   "tensor and its mean magnitude.",
           .choices = {"topk", "block-sign"}}};
}

}  // namespace

MethodRow comp_ams_row() {
  return {.name = "comp-ams",
          .summary = "compressed gradients with feedback, AMSGrad at the server",
          .paper =
              "Li, Karimi and Li, On Distributed Adaptive Optimization with Gradient "
              "Compression, arXiv 2205.05632",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "parameter-server; ring, direct and scatter-reduce with the update at workers",
          .sends = "up: the largest entries or signs of all tensors; down: weights as fp32",
          .page = "methods/comp-ams.md",
          .options = options_of_comp_ams(),
          .feeds_back = true,
          .optimizer = "amsgrad",
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<CompAms>(settings);
          }};
}

}  // namespace gradwire::methods
