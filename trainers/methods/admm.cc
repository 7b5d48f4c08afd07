#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "trainers/methods/lowbit_projection.h"
#include "trainers/methods/rows.h"

/// Low-bit quantisation of language models by ADMM (Xu, Chen, Hu, Yu, Liu, Meng, ICASSP 2020, arXiv
/// 2111.14836). Minimises the loss of weights W subject to W = G, where every group of G (tie) is a
/// scale times entries of a table T:
///
///   start           G = proj(W), u = 0
///   every step      W <- update(W, mean gradient + rho (W - G + u)), the sum's norm at most `clip`
///   every `every` epochs, and at the run's end
///                   G = proj(W + u);  u <- u + W - G;  rho <- rho growth
///
/// The model is G: it is evaluated, and kept in files, as codec `lowbit` has it. Tensors of one
/// dimension are fp32, in G as in W. With rho 0 nothing pulls W, and there is no u: G is what plain
/// training gives, quantised after it. With `straight_through` passes see proj(W) (admm_layers.cc),
/// and their gradients change W; rho then is 0.
namespace gradwire::methods {
namespace {

enum Remembered : std::size_t { kRho, kOuterSteps, kResidual, kHead };

/// What the method remembers of a tensor.
struct Dual {
  std::span<float> quantised, scaled;  ///< G, u
};

std::size_t elements_of(const TensorInfo& tensor) {
  return std::accumulate(
      tensor.shape.begin(), tensor.shape.end(), std::size_t{1},
      [](std::size_t all, std::int64_t extent) { return all * static_cast<std::size_t>(extent); });
}

bool are_finite(const std::vector<std::span<float>>& tensors) {
  return std::ranges::all_of(tensors, [](std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  });
}

double squares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * double{value};
  return sum;
}

class Admm final : public Method {
 public:
  explicit Admm(const OptionValues& options)
      : quantises_(options.text("table") != "fp32"),
        straight_through_(options.boolean("straight_through")),
        rho_(straight_through_ ? 0 : static_cast<float>(options.number("rho"))),
        growth_(static_cast<float>(options.number("growth"))),
        every_(options.number("every")),
        clip_(options.number("clip")),
        projection_{options.text("table"), options.text("tie"), options.integer("iterations")} {}

  SetPlan plan(std::size_t, std::size_t) const override { return {}; }
  PassOptions passes() const override {
    PassOptions options;
    if (!straight_through_) return options;
    const auto index = [](const char* option, const std::string& choice) {
      const std::vector<std::string>& all = lowbit_choices(option);
      return static_cast<double>(std::ranges::find(all, choice) - all.begin());
    };
    options.layer_rules = {{"straight-through",
                            {{"table", index("table", projection_.table)},
                             {"tie", index("tie", projection_.tie)},
                             {"iterations", static_cast<double>(projection_.iterations)}}}};
    return options;
  }

  bool acts_on_model() const override { return true; }
  std::size_t remembers(std::span<const TensorInfo> tensors) const override {
    std::size_t all = kHead;
    for (const TensorInfo& tensor : tensors)
      if (is_quantised(tensor)) all += 2 * elements_of(tensor);
    return all;
  }
  void start(SharedModel& model) const override {
    model.remembered[kRho] = rho_;
    project(model);
  }
  bool accept(SharedModel& model) const override {
    if (const float rho = model.remembered[kRho]; rho > 0) {
      const std::vector<Dual> duals = duals_of(model);
      for (std::size_t t = 0; t < duals.size(); ++t) pull(rho, model, t, duals[t]);
    }
    clip(model);
    return true;
  }
  void finish(SharedModel& model) const override {
    const auto outer_steps = [this](const Moment& moment) {
      return std::floor(moment.epoch / every_);
    };
    const bool due = model.last || outer_steps(model.next) > outer_steps(model.moment);
    if (!due || !are_finite(model.weights)) return;  // the next pass finds out
    project(model);
    model.remembered[kRho] *= growth_;
    ++model.remembered[kOuterSteps];
  }

  bool makes_model() const override { return quantises_; }
  void make_model(SharedModel& model) const override {
    const std::vector<Dual> duals = duals_of(model);
    for (std::size_t t = 0; t < duals.size(); ++t)
      std::ranges::copy(duals[t].quantised, model.weights[t].begin());
  }
  compressors::CodecChoice stored_as(const TensorInfo& tensor) const override {
    return is_quantised(tensor) ? projection_.stored() : compressors::CodecChoice{};
  }
  std::vector<std::pair<std::string, double>> figures(
      std::span<const float> remembered) const override {
    if (!quantises_) return {};
    return {{"primal_residual", remembered[kResidual]},
            {"outer_steps", remembered[kOuterSteps]},
            {"final_rho", remembered[kRho]}};
  }

 private:
  bool is_quantised(const TensorInfo& tensor) const {
    return quantises_ && is_lowbit(tensor.shape);
  }
  /// By tensor; of those that stay as they are, empty.
  std::vector<Dual> duals_of(const SharedModel& model) const {
    std::vector<Dual> duals;
    std::size_t first = kHead;
    for (std::size_t t = 0; t < model.tensors.size(); ++t) {
      const std::size_t n = is_quantised(model.tensors[t]) ? model.weights[t].size() : 0;
      duals.push_back({model.remembered.subspan(first, n), model.remembered.subspan(first + n, n)});
      first += 2 * n;
    }
    return duals;
  }

  /// The mean's part of rho / 2 |W - G + u|^2.
  static void pull(float rho, SharedModel& model, std::size_t tensor, const Dual& dual) {
    const std::span<float> mean = model.mean[tensor];
    const std::span<const float> weights = model.weights[tensor];
    for (std::size_t e = 0; e < dual.quantised.size(); ++e)
      mean[e] += rho * (weights[e] - dual.quantised[e] + dual.scaled[e]);
  }

  void clip(SharedModel& model) const {
    if (clip_ == 0) return;
    double sum = 0;
    for (const std::span<float> mean : model.mean) sum += squares(mean);
    const double norm = std::sqrt(sum);
    if (!(norm > clip_)) return;
    const auto factor = static_cast<float>(clip_ / norm);
    for (const std::span<float> mean : model.mean)
      for (float& value : mean) value *= factor;
  }

  /// G = proj(W + u), u <- u + W - G.
  void project(SharedModel& model) const {
    const std::vector<Dual> duals = duals_of(model);
    std::vector<LowbitTensor> tensors;
    for (std::size_t t = 0; t < duals.size(); ++t) {
      const Dual& dual = duals[t];
      if (dual.quantised.empty()) continue;
      for (std::size_t e = 0; e < dual.scaled.size(); ++e) dual.scaled[e] += model.weights[t][e];
      tensors.push_back({model.tensors[t].shape, dual.scaled, dual.quantised});
    }
    projection_.project(tensors);
    double distance = 0, size = 0;
    for (std::size_t t = 0; t < duals.size(); ++t) {
      const Dual& dual = duals[t];
      for (std::size_t e = 0; e < dual.scaled.size(); ++e) {
        const double apart = double{model.weights[t][e]} - double{dual.quantised[e]};
        distance += apart * apart;
        dual.scaled[e] = has_dual(model) ? dual.scaled[e] - dual.quantised[e] : 0.0f;
      }
      if (!dual.quantised.empty()) size += squares(model.weights[t]);
    }
    model.remembered[kResidual] = static_cast<float>(size > 0 ? std::sqrt(distance / size) : 0);
  }
  /// Not at the start, where u is 0.
  bool has_dual(const SharedModel& model) const { return rho_ > 0 && !model.mean.empty(); }

  bool quantises_, straight_through_;
  float rho_, growth_;
  double every_, clip_;
  LowbitProjection projection_;
};

OptionSpec number_of(const char* name, const char* default_text, const char* help, double min,
                     double max) {
  return {.name = name,
          .type = OptionType::kNumber,
          .default_text = default_text,
          .help = help,
          .min = min,
          .max = max};
}

OptionTable options() {
  std::vector<std::string> tables = lowbit_choices("table");
  tables.emplace_back("fp32");
  OptionSpec every = number_of(
      "every", "1", "Epochs from one projection to the next; there is one at the end.", 0, 1e6);
  every.min_exclusive = true;
  return {
      {.name = "table",
       .type = OptionType::kChoice,
       .default_text = "ternary",
       .help = "Multiples of a scale that weights take: binary = +-1 (1 bit); ternary = 0, +-1 (2 "
               "bits); pm012 = 0, +-1, +-2 (3 bits); pm0124 = 0, +-1, +-2, +-4 (3 bits); fp32: "
               "not quantised.",
       .choices = tables},
      {.name = "tie",
       .type = OptionType::kChoice,
       .default_text = "layer",
       .help = "What shares a scale: all of the model, a tensor, or a node (a row).",
       .choices = lowbit_choices("tie")},
      number_of("rho", "0.001",
                "Weight of the penalty that pulls weights towards quantised ones; 0: plain "
                "training, quantised after it.",
                0, 1e6),
      number_of("growth", "1.3", "The weight grows by this factor at each projection.", 1, 1e3),
      every,
      {.name = "iterations",
       .type = OptionType::kInteger,
       .default_text = "5",
       .help = "How often a projection chooses entries and then their scale.",
       .min = 1,
       .max = 1000},
      number_of("clip", "5",
                "Greatest 2-norm of the gradient of all tensors together, penalty included; 0: "
                "any.",
                0, 1e30),
      {.name = "straight_through",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .help = "For comparisons: in place of the penalty, passes see quantised weights, whose "
               "gradients change the real ones."}};
}

void check(const OptionValues& options) {
  if (!options.boolean("straight_through")) return;
  if (options.text("table") == "fp32")
    throw Error(ErrorKind::kUsage, "read option", "straight_through",
                "with table fp32 nothing is quantised", "another table, or false");
  if (options.text("tie") == "model")
    throw Error(ErrorKind::kUsage, "read option", "straight_through",
                "a layer sees its own weights alone, which tie model scales with all others",
                "tie layer or node, or false");
}

}  // namespace

MethodRow admm_row() {
  return {.name = "admm",
          .summary = "weights of 1 to 3 bits, to which a penalty with a dual variable leads",
          .paper =
              "Xu and others, Low-bit Quantization of Recurrent Neural Network Language "
              "Models Using Alternating Direction Methods of Multipliers, arXiv 2111.14836",
          .state = Reproduction::kPartly,
          .schedule = "synchronous",
          .routes =
              "ring, tree, halving-doubling, two-level, in-network, scatter-reduce, "
              "parameter-server",
          .sends = "all tensors: fp32; the model is kept in 1 to 3 bits a weight",
          .page = "methods/admm.md",
          .options = options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            check(settings.options);
            return std::make_unique<Admm>(settings.options);
          }};
}

}  // namespace gradwire::methods
