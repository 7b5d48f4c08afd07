#include "trainers/methods/comet.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "trainers/methods/rows.h"

/// COMET (Jin and others, arXiv 2111.09562): between forward and backward pass a convolution's
/// input is kept compressed, within an error bound eb of its own (comet_layers.cc). The weights'
/// gradient alone sees it. Each element of that is a sum of L x over batch and positions, L being
/// the loss map (the gradient of the layer's output), so that errors that are uniform in +-eb where
/// x is not 0 make one whose standard deviation is
///
///   sigma = eb sqrt(R S / 3),   R = share of x that is not 0,
///                               S = mean over channels of the sum of L^2 over batch and positions
///
/// R, S and the mean magnitude of the optimiser's momentum are looked at every now and then, and
///
///   eb <- target mean(abs(momentum)) / sqrt(R S / 3)
///
/// holds until the next time: 1 step later at first, twice as late each time, but half as late
/// where a bound has moved by more than a factor of 4, `interval` at most. What is kept before the
/// first time is exact. Each worker has bounds by its own R and S;
/// nothing is sent for them.
namespace gradwire::methods {

double gradient_deviation(double bound, double share, double loss_squares) {
  return bound * std::sqrt(share * loss_squares / 3);
}

double error_bound(double target, double momentum, double share, double loss_squares) {
  const double bound = target * momentum / gradient_deviation(1, share, loss_squares);
  return std::isfinite(bound) ? bound : 0;
}

namespace {

constexpr std::size_t kNext = 0, kGap = 1, kRefreshes = 2, kHead = 3;
/// A bound that changes by more has moved; S alone does by 2 from batch to batch.
constexpr float kMoved = 4;

bool is_convolution(const TensorInfo& tensor) {
  return tensor.shape.size() == 4;
}

class Comet final : public Method {
 public:
  Comet(const OptionValues& options, int workers)
      : target_(options.number("target")),
        interval_(options.integer("interval")),
        adaptive_(options.boolean("adaptive")),
        workers_(static_cast<std::size_t>(workers)) {
    const std::string& predictor = options.text("predictor");
    rule_ = {"comet",
             {{"predictor", predictor == "none" ? 0
                            : predictor == "1d" ? 1
                            : predictor == "2d" ? 2
                                                : 3},
              {"radius", static_cast<double>(options.integer("radius"))},
              {"masks", options.boolean("masks") ? 1 : 0},
              {"batch", options.boolean("batch") ? 1 : 0}}};
  }

  SetPlan plan(std::size_t, std::size_t) const override { return {}; }
  PassOptions passes() const override {
    PassOptions options;
    options.layer_rules = {rule_};
    return options;
  }

  bool acts_on_model() const override { return true; }
  std::size_t remembers(std::span<const TensorInfo> tensors) const override {
    return kHead + workers_ * tensors.size() * CometMemory::kFloats;
  }
  void start(SharedModel& model) const override {
    if (std::ranges::none_of(model.tensors, is_convolution))
      throw Error(ErrorKind::kUsage, "train", "comet",
                  "the model has no convolution, whose input could be compressed",
                  "take lenet5, cnn or resnet20, or another method");
    model.remembered[kGap] = adaptive_ ? 1 : static_cast<float>(interval_);
  }
  std::span<float> layer_memory(std::span<float> remembered, int worker) const override {
    const std::size_t each = (remembered.size() - kHead) / workers_;
    return remembered.subspan(kHead + static_cast<std::size_t>(worker) * each, each);
  }
  bool watches_layers(const Moment& moment, std::span<const float> remembered) const override {
    return static_cast<double>(moment.step) >= remembered[kNext];
  }

  void finish(SharedModel& model) const override {
    count(model);
    if (!watches_layers(model.moment, model.remembered)) return;
    const bool moved = refresh(model);
    float& gap = model.remembered[kGap];
    if (adaptive_ && model.remembered[kRefreshes] > 0)
      gap = std::clamp(moved ? gap / 2 : gap * 2, 1.0f, static_cast<float>(interval_));
    ++model.remembered[kRefreshes];
    model.remembered[kNext] = static_cast<float>(model.moment.step) + std::floor(gap);
  }

  std::vector<std::pair<std::string, double>> figures(
      std::span<const float> remembered) const override {
    return {{"bound_refreshes", remembered[kRefreshes]}};
  }
  std::vector<std::pair<std::string, double>> pass_figures(
      std::span<const float> memory, std::span<const double> errors) const override;

 private:
  /// visit(t, layer) of each convolution's weight t, at each worker.
  template <class Visit>
  void for_layers(SharedModel& model, Visit&& visit) const {
    for (std::size_t t = 0; t < model.tensors.size(); ++t)
      for (std::size_t w = 0; w < workers_ && is_convolution(model.tensors[t]); ++w)
        visit(t, layer_memory(model.remembered, static_cast<int>(w))
                     .subspan(t * CometMemory::kFloats, CometMemory::kFloats));
  }
  void count(SharedModel& model) const {
    const auto steps = static_cast<float>(model.moment.step + 1);
    for_layers(model, [steps](std::size_t, std::span<float> layer) {
      float& mean = layer[CometMemory::kMeanStored];
      mean += (layer[CometMemory::kStored] - mean) / steps;
    });
  }
  /// New bounds; whether one of them moved.
  bool refresh(SharedModel& model) const {
    std::vector<double> momenta(model.tensors.size());
    for (std::size_t t = 0; t < momenta.size(); ++t)
      if (is_convolution(model.tensors[t])) momenta[t] = model.mean_momentum(t);
    bool moved = false;
    for_layers(model, [&](std::size_t t, std::span<float> layer) {
      float& bound = layer[CometMemory::kBound];
      const auto next = static_cast<float>(error_bound(
          target_, momenta[t], layer[CometMemory::kShare], layer[CometMemory::kLossSquares]));
      moved |= next > kMoved * bound || kMoved * next < bound;
      bound = next;
    });
    return moved;
  }

  double target_;
  std::int64_t interval_;
  bool adaptive_;
  std::size_t workers_;
  trainers::LayerRuleChoice rule_;
};

std::vector<std::pair<std::string, double>> Comet::pass_figures(
    std::span<const float> memory, std::span<const double> errors) const {
  std::vector<std::pair<std::string, double>> figures;
  double elements = 0, stored = 0, largest = 0;
  int number = 0;
  for (std::size_t t = 0; t < errors.size(); ++t) {
    const auto layer = memory.subspan(t * CometMemory::kFloats, CometMemory::kFloats);
    if (layer[CometMemory::kElements] == 0) continue;  // not a convolution, or nothing is packed
    elements += layer[CometMemory::kElements];
    stored += layer[CometMemory::kMeanStored];
    const double bound = layer[CometMemory::kBound];
    const std::string at = "_" + std::to_string(++number);
    const auto add = [&](const char* name, double value) {
      figures.emplace_back(name + at, value);
    };
    add("saved_bits_per_element",
        8.0 * layer[CometMemory::kMeanStored] / layer[CometMemory::kElements]);
    add("error_bound", bound);
    if (bound == 0) continue;
    largest = std::max(largest, layer[CometMemory::kError] / bound);
    const double sigma =
        gradient_deviation(bound, layer[CometMemory::kShare], layer[CometMemory::kLossSquares]);
    if (sigma > 0) add("gradient_error_over_sigma", errors[t] / sigma);
  }
  if (elements == 0) return figures;
  if (largest > 0) figures.emplace_back("largest_error_over_bound", largest);
  figures.emplace_back("conv_inputs_bytes", 4 * elements);
  figures.emplace_back("conv_inputs_saved_bytes", stored);
  figures.emplace_back("conv_inputs_ratio", 4 * elements / stored);
  return figures;
}

OptionTable options() {
  return {
      {.name = "target",
       .type = OptionType::kNumber,
       .default_text = "0.01",
       .help = "Deviation of a weight gradient's error, as a share of the mean magnitude of the "
               "optimiser's momentum of that layer (the paper's 1 %). 0: inputs are kept exact.",
       .min = 0,
       .max = 1e3},
      {.name = "interval",
       .type = OptionType::kInteger,
       .default_text = "1000",
       .help = "Steps from one choice of bounds to the next, at most.",
       .min = 1,
       .max = 1e6},
      {.name = "adaptive",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help =
           "Bounds are chosen again after 1 step, then after twice as many each time, but half as "
           "many where one has moved by more than a factor of 4; false: every `interval` steps."},
      {.name = "predictor",
       .type = OptionType::kChoice,
       .default_text = "none",
       .help = "Lorenzo prediction from neighbours, as codec sz has it; auto: what gives the "
               "smallest block, at three times the work.",
       .choices = {"none", "1d", "2d", "auto"}},
      {.name = "radius",
       .type = OptionType::kInteger,
       .default_text = "512",
       .help = "Differences of this size or more are stored apart, as codec sz has it.",
       .min = 1,
       .max = 4096},
      {.name = "batch",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .help = "Whether the first layer's input is compressed, too: the batch itself, which its "
               "owner holds through the pass anyway."},
      {.name = "masks",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "A ReLU keeps a bit and a pooling 2 bits an element; false, for experiments: what "
               "LibTorch keeps, which are the tensors that convolutions see."}};
}

}  // namespace

MethodRow comet_row() {
  return {.name = "comet",
          .summary = "convolutions' inputs kept compressed between forward and backward pass",
          .paper =
              "Jin and others, COMET: A Novel Memory-Efficient Deep Learning Training Framework by "
              "Using Error-Bounded Lossy Compression, arXiv 2111.09562",
          .state = Reproduction::kPartly,
          .schedule = "synchronous",
          .routes = "any that carries fp32",
          .sends = "all tensors: fp32; what is compressed never leaves a worker",
          .page = "methods/comet.md",
          .options = options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<Comet>(settings.options, settings.workers);
          }};
}

}  // namespace gradwire::methods
