#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// AQ-SGD (Wang et al., arXiv 2206.01299, first called AC-SGD). Between two stages of a pipeline
/// both ends remember m(x) for every sample x:
///
///   forwards, first time:  send a = stage(x);      m(x) <- a
///   later:                 send c = Q_f(a - m(x));  m(x) <- m(x) + c
///   the next stage computes on m(x);   backwards: send Q_b(gradient of the loss by m(x))
///
/// As training settles, a changes less and less, and so does what Q_f leaves out. The theorem asks
/// for |d - Q_f(d)| <= c |d| with c < sqrt(1/2), which a bit or two a value does not give in
/// general. `messages` direct is what it is compared with: Q_f(a), and nothing remembered.
namespace gradwire::methods {
namespace {

constexpr const char* kCodec = "rowquant";
constexpr std::int64_t kPlainBits = 32;

class AqSgd final : public Method {
 public:
  explicit AqSgd(const OptionValues& options)
      : boundary_{.forward = quantiser(options, "forward_bits"),
                  .backward = quantiser(options, "backward_bits")},
        gradients_{.codec = {.name = options.text("gradients"), .options = {}}} {
    boundary_.differences = boundary_.forward && options.text("messages") == "differences";
    for (const auto& plan : {boundary_.forward, boundary_.backward})
      if (plan) compressors::make_codec(*plan);  // throws where its options do not go together
  }
  SetPlan plan(std::size_t, std::size_t) const override { return {.up = gradients_}; }
  BoundaryPlan boundary() const override { return boundary_; }
  bool of_pipeline() const override { return true; }

 private:
  static std::optional<compressors::CodecPlan> quantiser(const OptionValues& options,
                                                         const std::string& bits) {
    const std::int64_t each = options.integer(bits);
    if (each == kPlainBits) return std::nullopt;
    if (each > 8)
      throw Error(ErrorKind::kUsage, "make method", "aq-sgd",
                  bits + " is " + std::to_string(each) + ", and codes have 8 bits at most",
                  "1 to 8, or 32 for fp32");
    return compressors::CodecPlan{.codec = {.name = kCodec,
                                            .options = {{"bits", std::to_string(each)},
                                                        {"grid", options.text("grid")},
                                                        {"rounding", options.text("rounding")}}}};
  }

  BoundaryPlan boundary_;
  compressors::CodecPlan gradients_;
};

OptionSpec bits(const char* name, const char* usual, const char* help) {
  return {.name = name,
          .type = OptionType::kInteger,
          .default_text = usual,
          .help = help,
          .min = 1,
          .max = 32};
}

}  // namespace

MethodRow aq_sgd_row() {
  OptionSpec rounding =
      codec_option(kCodec, "rounding", "Of the symmetric grid: nearest, or stochastic, unbiased.");
  return {
      .name = "aq-sgd",
      .summary = "pipelines that send what activations have changed since the last epoch",
      .paper =
          "Wang, Yuan, Chen, Zhang, Zhang, Re, Zhang, Fine-tuning Language Models over Slow "
          "Networks using Activation Quantization with Guarantees, arXiv 2206.01299",
      .state = Reproduction::kReproduced,
      .schedule = "pipeline",
      .routes = "from stage to stage; of several replicas ring and the other all-reduces",
      .sends =
          "what activations of a sample have changed, gradients of activations; of several "
          "replicas a stage's gradients",
      .page = "methods/aq-sgd.md",
      .options =
          {bits("forward_bits", "4",
                "Of an activation, 1 to 8; 32: activations as fp32, and nothing is remembered."),
           bits("backward_bits", "8", "Of a gradient of activations, 1 to 8; 32: fp32."),
           {.name = "messages",
            .type = OptionType::kChoice,
            .default_text = "differences",
            .help = "differences: what a sample's activations have changed since both ends last "
                    "heard of it; direct: the activations themselves, with nothing remembered.",
            .choices = {"differences", "direct"}},
           rounding,
           codec_option(kCodec, "grid",
                        "symmetric: a scale a row (token); released: a scale a column (channel) of "
                        "the micro-batch, rounded to nearest, as the authors' code."),
           {.name = "gradients",
            .type = OptionType::kChoice,
            .default_text = "none",
            .help = "What replicas' gradients of a stage are encoded with; none: fp32.",
            .choices = {"none", "int8", "qsgd", "fp16"}}},
      .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
        return std::make_unique<AqSgd>(settings.options);
      }};
}

}  // namespace gradwire::methods
