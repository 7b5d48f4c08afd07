#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/exact_text.h"
#include "trainers/methods/rows.h"

/// Deep Gradient Compression (Lin and others, arXiv 1712.01887). Worker k of N, with the gradient g
/// of its own batch, for each weight tensor:
///
///   g <- g min(1, clip N^(-1/2) / |g|)                  local clipping, section 3.2
///   u <- m u + g,  v <- v + u                           momentum correction, eq. 7
///   send the ceil(r n) largest |v|, by a sampled threshold;
///   v <- 0 and u <- 0 where sent                        momentum factor masking, section 3.2
///
/// and the update, at every worker, w <- w - lr mean(what all sent). It applies no momentum:
/// workers have. Tensors of one dimension (biases, normalisation) are small and stay dense, with
/// momentum in their update, as in the authors' code. The kept share r follows `warmup` for the
/// first epochs, 25 %, 6.25 %, 1.5625 %, 0.4 % in the paper, then `ratio`. A share of 1 is a dense
/// step with momentum in the update. State of a worker: u and v of each weight tensor.
namespace gradwire::methods {
namespace {

constexpr std::size_t kMatrices = 0, kVectors = 1;

/// "0.25,0.0625" as numbers in (0, 1].
std::vector<double> shares_of(const std::string& text) {
  std::vector<double> shares;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    double share = 0;
    const char* end = text.data() + comma;
    const auto [stop, error] = std::from_chars(text.data() + at, end, share);
    if (error != std::errc() || stop != end || !(share > 0 && share <= 1)) {
      throw Error(ErrorKind::kUsage, "read option", "warmup",
                  "\"" + text.substr(at, comma - at) + "\" is not a share in (0, 1]",
                  "write shares with commas between them, such as 0.25,0.0625");
    }
    shares.push_back(share);
    at = comma + 1;
  }
  return shares;
}

class DeepGradientCompression final : public Method {
 public:
  explicit DeepGradientCompression(const MethodSettings& settings)
      : options_(settings.options),
        workers_(settings.workers),
        warmup_epochs_(options_.number("warmup_epochs")) {
    if (warmup_epochs_ > 0) shares_ = shares_of(options_.text("warmup"));
    shares_.push_back(options_.number("ratio"));
  }

  /// Where all is dense from the first step on, this is plain training: one set, bit for bit.
  std::size_t sets() const override {
    const bool plain = shares_.size() == 1 && shares_[0] >= 1;
    return options_.boolean("dense_vectors") && !plain ? 2 : 1;
  }
  std::size_t set_of(const TensorInfo& tensor) const override {
    return sets() == 2 && tensor.shape.size() == 1 ? kVectors : kMatrices;
  }

  std::size_t phases() const override { return shares_.size(); }
  /// The warm-up's shares have equal parts of its epochs.
  std::size_t phase(const Moment& moment) const override {
    const std::size_t last = shares_.size() - 1;
    if (moment.epoch >= warmup_epochs_) return last;
    const double part = moment.epoch / warmup_epochs_ * static_cast<double>(last);
    return std::min(static_cast<std::size_t>(part), last);
  }

  SetPlan plan(std::size_t set, std::size_t phase) const override {
    const double share = shares_[phase];
    if (set == kVectors || share >= 1) return {};
    const bool corrects = options_.boolean("correction");
    SetPlan plan;
    plan.up.codec = codec_of(share);
    plan.up.error_feedback = true;
    const double clip = options_.number("clip");
    if (corrects) {
      plan.up.momentum_correction = {.momentum = options_.number("momentum"),
                                     .nesterov = options_.boolean("nesterov"),
                                     .masking = options_.boolean("masking"),
                                     .clip = clip,
                                     .workers = workers_};
    } else if (clip > 0) {
      plan.up.clipping = {.by = compressors::ClipBy::kNorm,
                          .threshold = clip / std::sqrt(static_cast<double>(workers_))};
    }
    plan.update_momentum = !corrects;
    return plan;
  }

 private:
  compressors::CodecChoice codec_of(double share) const {
    return {.name = "dgc",
            .options = {{"ratio", exact_text(share)},
                        {"selection", options_.text("selection")},
                        {"sample", exact_text(options_.number("sample"))}}};
  }

  OptionValues options_;
  int workers_;
  double warmup_epochs_;
  std::vector<double> shares_;  ///< by phase
};

OptionTable options() {
  return {
      {.name = "ratio",
       .type = OptionType::kNumber,
       .default_text = "0.001",
       .help = "Share r of a tensor's elements that is sent after the warm-up: ceil(r n), at least "
               "1. 1 sends all, with momentum in the update: plain training.",
       .min = 0,
       .max = 1,
       .min_exclusive = true},
      {.name = "warmup",
       .type = OptionType::kText,
       .default_text = "0.25,0.0625,0.015625,0.004",
       .help = "Shares of the warm-up, each for an equal part of its epochs (section 3.3)."},
      {.name = "warmup_epochs",
       .type = OptionType::kNumber,
       .default_text = "4",
       .help = "How long the warm-up takes; 0 = none. 4 of 164 epochs on CIFAR-10 in the paper.",
       .min = 0,
       .max = 1e6},
      {.name = "momentum",
       .type = OptionType::kNumber,
       .default_text = "0.9",
       .help = "Momentum m, which the workers apply to what they send.",
       .min = 0,
       .max = 1,
       .max_exclusive = true},
      {.name = "correction",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Momentum correction; false: error feedback, with momentum in the update (eq. 5)."},
      {.name = "nesterov",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .help = "u <- m (u + g), v <- v + u + g, as the authors' code has it."},
      {.name = "masking",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Forget the momentum of an element that was sent."},
      {.name = "clip",
       .type = OptionType::kNumber,
       .default_text = "0",
       .help =
           "Bound on the 2-norm of a tensor's summed gradient: each worker cuts its own to clip "
           "/ sqrt(workers) first; 0 = off.",
       .min = 0,
       .max = 1e30},
      {.name = "dense_vectors",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .help = "Tensors of one dimension are sent whole, as fp32, with momentum in their update."},
      {.name = "selection",
       .type = OptionType::kChoice,
       .default_text = "sampled",
       .help = "exact: the k of largest magnitude; sampled: those above the threshold of a sample, "
               "0.8 k to 1.3 k of them.",
       .choices = {"exact", "sampled"}},
      {.name = "sample",
       .type = OptionType::kNumber,
       .default_text = "0.001",
       .help = "Share of the elements in that sample, which has 160 / ratio elements at least.",
       .min = 0,
       .max = 1,
       .min_exclusive = true}};
}

}  // namespace

MethodRow dgc_row() {
  return {.name = "dgc",
          .summary = "the largest entries of corrected momentum, the rest kept for later",
          .paper = "Lin and others, Deep Gradient Compression, arXiv 1712.01887",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, direct, parameter-server, scatter-reduce",
          .sends = "weights: a few values and where they are; tensors of one dimension: fp32",
          .page = "methods/dgc.md",
          .options = options(),
          .takes_momentum = true,
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<DeepGradientCompression>(settings);
          }};
}

}  // namespace gradwire::methods
