#include <algorithm>
#include <cmath>

#include "compressors/arithmetic/half.h"
#include "trainers/methods/rows.h"

/// Mixed precision training (Micikevicius and others, arXiv 1710.03740). At every worker:
///
///   w16 = half(w32)                              fp32 master weights, section 3.1
///   pass in fp16 with the loss times S           loss scaling, section 3.2
///   all-reduce of the fp16 gradients
///   a value of the mean is not finite:  no update; S <- max(S backoff, smallest), good <- 0
///   else  g32 = mean / S;  w32 <- update(w32, g32);  good <- good + 1;
///         good = interval:  S <- S growth, good <- 0
///
/// An infinity or a NaN of one worker is one of every sum that it is part of, so all workers decide
/// alike without a message. The paper has constant scales, here `static`; `dynamic` has the values
/// of today's frameworks. trainers/methods/mixed_precision_layers.cc computes layers in fp16.
namespace gradwire::methods {
namespace {

constexpr std::size_t kScale = 0, kGood = 1, kSkipped = 2, kRemembered = 3;

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

class MixedPrecision final : public Method {
 public:
  explicit MixedPrecision(const OptionValues& options)
      : dynamic_(options.text("scaling") == "dynamic"),
        scale_(options.text("scaling") == "none" ? 1 : number(options, "scale")),
        growth_(number(options, "growth")),
        backoff_(number(options, "backoff")),
        smallest_(number(options, "smallest_scale")),
        interval_(static_cast<float>(options.integer("interval"))),
        loss_factor_(number(options, "loss_factor")),
        master_weights_(options.boolean("master_weights")) {}

  SetPlan plan(std::size_t, std::size_t) const override {
    SetPlan plan;
    plan.up.codec = {.name = "fp16", .options = {{"not_finite", "send"}}};
    return plan;
  }
  PassOptions passes() const override {
    PassOptions options;
    options.loss_scale = scale_ * loss_factor_;
    options.layer_rules = {{"fp16"}};
    return options;
  }

  bool acts_on_model() const override { return true; }
  bool takes_any_gradient() const override { return true; }
  std::size_t remembers(std::span<const TensorInfo>) const override { return kRemembered; }
  float loss_scale(std::span<const float> remembered) const override {
    return remembered[kScale] * loss_factor_;
  }

  void start(SharedModel& model) const override {
    model.remembered[kScale] = scale_;
    round_weights(model);
  }
  bool accept(SharedModel& model) const override {
    const float applied = loss_scale(model.remembered);
    const bool good = std::all_of(model.mean.begin(), model.mean.end(), all_finite);
    follow(good, model.remembered);
    if (!good) return false;
    for (const std::span<float> mean : model.mean)
      for (float& value : mean) value /= applied;
    return true;
  }
  void finish(SharedModel& model) const override { round_weights(model); }

  std::vector<std::pair<std::string, double>> figures(
      std::span<const float> remembered) const override {
    return {{"loss_scale", remembered[kScale]}, {"skipped_steps", remembered[kSkipped]}};
  }

 private:
  static float number(const OptionValues& options, const char* name) {
    return static_cast<float>(options.number(name));
  }

  void follow(bool good, std::span<float> remembered) const {
    if (!good) ++remembered[kSkipped];
    if (!dynamic_) return;
    remembered[kGood] = good ? remembered[kGood] + 1 : 0;
    if (!good) remembered[kScale] = std::max(remembered[kScale] * backoff_, smallest_);
    if (remembered[kGood] < interval_) return;
    remembered[kScale] *= growth_;
    remembered[kGood] = 0;
  }

  void round_weights(SharedModel& model) const {
    if (master_weights_) return;
    for (const std::span<float> weights : model.weights)
      for (float& value : weights)
        value = compressors::float_from_half(compressors::half_from_float(value));
  }

  bool dynamic_;
  float scale_, growth_, backoff_, smallest_, interval_, loss_factor_;
  bool master_weights_;
};

OptionTable options() {
  return {
      {.name = "scaling",
       .type = OptionType::kChoice,
       .default_text = "dynamic",
       .help = "How the loss is scaled: by a scale that follows overflows, by a constant, not at "
               "all.",
       .choices = {"dynamic", "static", "none"}},
      {.name = "scale",
       .type = OptionType::kNumber,
       .default_text = "65536",
       .help = "The constant, or the scale of the first step (65536 in today's frameworks; 8 to "
               "32768 in the paper).",
       .min = 0,
       .max = 1e30,
       .min_exclusive = true},
      {.name = "interval",
       .type = OptionType::kInteger,
       .default_text = "2000",
       .help = "dynamic: steps without an overflow after which the scale grows.",
       .min = 1,
       .max = 1e6},
      {.name = "growth",
       .type = OptionType::kNumber,
       .default_text = "2",
       .help = "dynamic: the scale grows by this factor.",
       .min = 1,
       .max = 1e6},
      {.name = "backoff",
       .type = OptionType::kNumber,
       .default_text = "0.5",
       .help = "dynamic: after an overflow the scale is multiplied by this.",
       .min = 0,
       .max = 1,
       .min_exclusive = true,
       .max_exclusive = true},
      {.name = "smallest_scale",
       .type = OptionType::kNumber,
       .default_text = "1",
       .help = "dynamic: the scale never falls below.",
       .min = 0,
       .max = 1e30,
       .min_exclusive = true},
      {.name = "master_weights",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Weights are kept and updated in fp32; false: rounded to fp16 after each update."},
      {.name = "loss_factor",
       .type = OptionType::kNumber,
       .default_text = "1",
       .help = "For experiments: the loss times this, at a learning rate over this. A small one "
               "has gradients that fp16 without scaling loses.",
       .min = 0,
       .max = 1e30,
       .min_exclusive = true}};
}

}  // namespace

MethodRow mixed_precision_row() {
  return {.name = "mixed-precision",
          .summary = "passes and gradients in fp16, fp32 master weights, a scaled loss",
          .paper = "Micikevicius and others, Mixed Precision Training, arXiv 1710.03740",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes =
              "ring, tree, halving-doubling, two-level, in-network, scatter-reduce, "
              "parameter-server",
          .sends = "all tensors: 16 bits an element",
          .page = "methods/mixed-precision.md",
          .options = options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<MixedPrecision>(settings.options);
          }};
}

}  // namespace gradwire::methods
