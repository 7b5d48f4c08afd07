#include <map>

#include "base/error.h"
#include "trainers/methods/gossip_codec.h"
#include "trainers/methods/rows.h"

/// Low-precision decentralised training (Aketi, Kodge, Roy, arXiv 2111.09389). Workers gossip, and
/// their passes see weights, activations and gradients of few bits (low_precision_layers.cc). With
/// x_i the weights of worker i, which stay fp32:
///
///   x_i <- update(x_i, gradient at Q(x_i), through layers of few bits)
///   mix as CHOCO-SGD, DeepSqueeze or D-PSGD do, with messages of 8 bits
///
/// 32 bits are fp32: with all three of them the run is that of the method that mixes alike.
namespace gradwire::methods {
namespace {

constexpr int kFloatBits = 32;
constexpr const char* kBits[] = {"weight_bits", "activation_bits", "gradient_bits"};

class LowPrecision final : public Method {
 public:
  explicit LowPrecision(const OptionValues& options)
      : differences_(options.text("mixing") == "choco-sgd"),
        step_(options.number("step")),
        plan_(gossip_codec(options, options.text("mixing") == "deepsqueeze")) {
    for (const char* name : kBits) bits_[name] = static_cast<double>(options.integer(name));
  }

  SetPlan plan(std::size_t, std::size_t) const override { return {.up = plan_}; }
  PassOptions passes() const override {
    PassOptions options;
    for (const auto& [name, bits] : bits_)
      if (bits != kFloatBits) options.layer_rules = {{"low-precision", bits_}};
    if (bits_.at("activation_bits") != kFloatBits) options.layer_floats = 2;  // a running range
    return options;
  }
  std::optional<GossipPlan> gossip() const override {
    return GossipPlan{.differences = differences_, .step = step_};
  }
  bool of_gossip() const override { return true; }

 private:
  bool differences_;
  double step_;
  compressors::CodecPlan plan_;
  std::map<std::string, double> bits_;
};

OptionTable options_of_low_precision() {
  const auto bits = [](const char* name, const char* help) {
    return OptionSpec{.name = name,
                      .type = OptionType::kInteger,
                      .default_text = "8",
                      .help = help,
                      .min = 1,
                      .max = 32};
  };
  OptionTable table = {
      bits("weight_bits", "Of a layer's weights and biases in passes, 1 to 8; 32: fp32."),
      bits("activation_bits", "Of what layers see, 1 to 8; 32: fp32."),
      bits("gradient_bits",
           "Of the gradient that goes back through a layer, drawn, 1 to 8; 32: fp32. Gradients of "
           "weights are taken from the one that comes in."),
      {.name = "mixing",
       .type = OptionType::kChoice,
       .default_text = "choco-sgd",
       .help = "How workers mix: as the methods of that name do; d-psgd: what messages say of "
               "weights, without feedback.",
       .choices = {"choco-sgd", "deepsqueeze", "d-psgd"}}};
  for (const OptionSpec& option : gossip_options()) table.push_back(option);
  return table;
}

void check_bits(const OptionValues& options) {
  for (const char* name : kBits)
    if (options.integer(name) > 8 && options.integer(name) != kFloatBits)
      throw Error(ErrorKind::kUsage, "read option", name, "bits are 1 to 8, or 32 for fp32");
}

}  // namespace

MethodRow low_precision_row() {
  return {.name = "low-precision",
          .summary =
              "gossip of workers whose passes have weights, activations and gradients of 8 "
              "bits",
          .paper =
              "Aketi, Kodge, Roy, Low Precision Decentralized Distributed Training over IID and "
              "non-IID Data, arXiv 2111.09389",
          .state = Reproduction::kReproduced,
          .schedule = "gossip",
          .routes = "gossip",
          .sends = "all tensors: as the chosen way of mixing does",
          .page = "methods/low-precision-gossip.md",
          .options = options_of_low_precision(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            check_bits(settings.options);
            return std::make_unique<LowPrecision>(settings.options);
          }};
}

}  // namespace gradwire::methods
