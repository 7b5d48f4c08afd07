#include <algorithm>

#include "base/error.h"
#include "compressors/xnor_gemm.h"
#include "trainers/methods/rows.h"

/// Quantised and binarised networks (Hubara, Courbariaux, Soudry, El-Yaniv, Bengio, JMLR 2018,
/// arXiv 1609.07061). Passes see weights and activations of few bits (qnn_layers.cc), updates
/// change real weights:
///
///   w_q = quantised(w);  g = gradient with respect to w_q
///   w <- clip(update(w, mean of g), -1, 1)         weights that layers multiply with alone
///
/// and gradients are sent as powers of two in 6 bits, or as fp32.
namespace gradwire::methods {
namespace {

constexpr std::size_t kPacked = 0, kDense = 1, kRemembered = 2;

/// Weights of linear layers and convolutions. Tensors of one dimension are added or scale; what
/// char-lstm has before its last layer is not quantised.
bool is_quantised(const TensorInfo& tensor) {
  return (tensor.shape.size() == 2 || tensor.shape.size() == 4) &&
         tensor.name.find("embedding") == std::string_view::npos &&
         tensor.name.find("lstm") == std::string_view::npos;
}

class Qnn final : public Method {
 public:
  explicit Qnn(const OptionValues& options)
      : weight_bits_(bits(options, "weight_bits")),
        activation_bits_(bits(options, "activation_bits")),
        log_gradients_(options.text("gradients") == "log"),
        drawn_(options.text("rounding") == "stochastic"),
        input_step_(options.number("input_step")),
        shifts_(options.text("normalisation") == "shift"),
        packed_(options.boolean("packed")),
        straight_through_(options.boolean("straight_through")) {}

  SetPlan plan(std::size_t, std::size_t) const override {
    SetPlan plan;
    if (log_gradients_) plan.up.codec = {.name = "log"};
    return plan;
  }
  PassOptions passes() const override {
    PassOptions options;
    if (weight_bits_ == 32 && activation_bits_ == 32 && !shifts_) return options;
    options.layer_rules = {{"qnn",
                            {{"weight_bits", weight_bits_},
                             {"activation_bits", activation_bits_},
                             {"input_step", input_step_},
                             {"drawn", drawn_ ? 1.0 : 0.0},
                             {"shifts", shifts_ ? 1.0 : 0.0},
                             {"straight_through", straight_through_ ? 1.0 : 0.0},
                             {"packed", packed_ ? 1.0 : 0.0}}}};
    return options;
  }

  bool acts_on_model() const override { return true; }
  std::size_t remembers(std::span<const TensorInfo>) const override { return kRemembered; }
  void start(SharedModel& model) const override {
    clip(model);
    for (const TensorInfo& tensor : model.tensors) count(tensor, model.remembered);
  }
  void finish(SharedModel& model) const override { clip(model); }
  std::vector<std::pair<std::string, double>> figures(
      std::span<const float> remembered) const override {
    if (weight_bits_ == 32) return {};
    return {{"packed_weights_bytes", remembered[kPacked]},
            {"fp32_weights_bytes", remembered[kDense]}};
  }

 private:
  static int bits(const OptionValues& options, const char* name) {
    return static_cast<int>(options.integer(name));
  }
  void clip(SharedModel& model) const {
    if (weight_bits_ == 32) return;
    for (std::size_t t = 0; t < model.tensors.size(); ++t)
      if (is_quantised(model.tensors[t]))
        for (float& weight : model.weights[t]) weight = std::clamp(weight, -1.0f, 1.0f);
  }
  /// As bit planes, rows in words of 64 bits, and as fp32.
  void count(const TensorInfo& tensor, std::span<float> remembered) const {
    if (weight_bits_ == 32 || !is_quantised(tensor)) return;
    std::int64_t columns = 1;
    for (const std::int64_t size : tensor.shape.subspan(1)) columns *= size;
    const std::size_t row = compressors::plane_bytes(static_cast<std::size_t>(columns));
    const auto rows = static_cast<float>(tensor.shape[0]);
    remembered[kPacked] += rows * static_cast<float>(row) * static_cast<float>(weight_bits_);
    remembered[kDense] += rows * static_cast<float>(4 * columns);
  }

  int weight_bits_, activation_bits_;
  bool log_gradients_, drawn_;
  double input_step_;
  bool shifts_, packed_, straight_through_;
};

OptionSpec bits_of(const char* name, const char* default_text, const char* help) {
  return {.name = name,
          .type = OptionType::kInteger,
          .default_text = default_text,
          .help = help,
          .min = 1,
          .max = 32};
}

OptionTable options_of_qnn() {
  return {
      bits_of("weight_bits", "1",
              "Of a weight of linear layers and convolutions, 1 (+-1) to 8; 32: fp32."),
      bits_of("activation_bits", "1",
              "Of what those layers see but the first, 1 to 8, in place of the model's "
              "activation; 32: fp32, after the model's activation."),
      {.name = "rounding",
       .type = OptionType::kChoice,
       .default_text = "nearest",
       .help = "Of activations in training: nearest, or, of one bit, stochastic: +1 with "
               "probability (x + 1) / 2. Evaluations take the sign.",
       .choices = {"nearest", "stochastic"}},
      {.name = "gradients",
       .type = OptionType::kChoice,
       .default_text = "fp32",
       .help = "What is sent of gradients: fp32, or powers of two in 6 bits.",
       .choices = {"fp32", "log"}},
      {.name = "input_step",
       .type = OptionType::kNumber,
       .default_text = "0.03125",
       .help = "The first layer sees samples as multiples of it in 8 bits, -128 to 127 of them; "
               "a power of two has exact products; 0: as they are.",
       .min = 0,
       .max = 1e6},
      {.name = "normalisation",
       .type = OptionType::kChoice,
       .default_text = "shift",
       .help = "The model's normalisations: by shifts, with powers of two for divisors, or as "
               "the model has them.",
       .choices = {"shift", "model"}},
      {.name = "packed",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Evaluations multiply linear layers' bit planes by XOR and counts; false: the "
               "same integers as floats."},
      {.name = "straight_through",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Gradients pass quantisers as they come; false, for experiments: as 0, which is "
               "what steps have nearly everywhere."}};
}

void check_bits(const OptionValues& options) {
  for (const char* name : {"weight_bits", "activation_bits"})
    if (options.integer(name) > 8 && options.integer(name) != 32)
      throw Error(ErrorKind::kUsage, "read option", name, "bits are 1 to 8, or 32 for fp32");
  if (options.text("rounding") == "stochastic" && options.integer("activation_bits") != 1)
    throw Error(ErrorKind::kUsage, "read option", "rounding",
                "activations of one bit alone are drawn");
}

}  // namespace

MethodRow qnn_row() {
  return {.name = "qnn",
          .summary = "weights and activations of few bits in passes, gradients as powers of two",
          .paper =
              "Hubara and others, Quantized Neural Networks: Training Neural Networks with Low "
              "Precision Weights and Activations, arXiv 1609.07061",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, tree, halving-doubling, all-gather, parameter-server",
          .sends = "all tensors: fp32, or 6 bits an element",
          .page = "methods/qnn.md",
          .options = options_of_qnn(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            check_bits(settings.options);
            return std::make_unique<Qnn>(settings.options);
          }};
}

}  // namespace gradwire::methods
