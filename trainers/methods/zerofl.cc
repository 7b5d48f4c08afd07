#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/exact_text.h"
#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// ZeroFL (Qiu, Fernandez-Marques, Gusmao, Gao, Parcollet, Lane, arXiv 2208.02507). Clients of
/// federated rounds train with sparse layers (zerofl_layers.cc); layers that are sparse are all
/// with weights but the last. Of those layers a client sends a share kappa = 1 - sp + r of each
/// weight matrix, of n elements, w_t being what it was sent and w_E what it trained:
///
///   weights          the ceil(kappa n) largest |w_E|; the server's model is their mean by samples,
///                    what a client does not send counting as 0
///   diff-on-weights  at those positions w_E - w_t, whose mean the server adds
///   weights-diff     the ceil(kappa n) largest |w_E - w_t|, the same
///
/// and the last layer and all vectors whole. With kappa = 1 all is sent as fp32, which is federated
/// averaging over sparse layers.
namespace gradwire::methods {
namespace {

class ZeroFl final : public Method {
 public:
  explicit ZeroFl(const MethodSettings& settings)
      : sparsity_(settings.options.number("sparsity")),
        kept_(std::min(1.0, 1.0 - sparsity_ + settings.options.number("mask_ratio"))),
        upload_(settings.options.text("upload")) {
    codec_.name = "csr";
    codec_.options = {{"sparsity", exact_text(sparsity_)},
                      {"mask_ratio", exact_text(settings.options.number("mask_ratio"))},
                      {"indices", settings.options.text("indices")}};
  }
  std::size_t sets() const override { return 2; }
  std::size_t set_of(const TensorInfo& tensor) const override {
    return tensor.shape.size() == 1 || tensor.last_layer ? 1 : 0;
  }
  SetPlan plan(std::size_t set, std::size_t) const override {
    SetPlan plan;
    if (set == 1 || kept_ >= 1) return plan;
    plan.up.codec = codec_;
    plan.weights_up = upload_ == "weights";
    return plan;
  }
  PassOptions passes() const override {
    PassOptions options;
    if (sparsity_ > 0) options.layer_rules = {{"swat", {{"sparsity", sparsity_}}}};
    return options;
  }
  bool of_rounds() const override { return true; }
  void mask_upload(std::size_t set, std::span<const float> trained,
                   std::span<float> upload) const override {
    if (set == 1 || kept_ >= 1 || upload_ != "diff-on-weights") return;
    const auto n = trained.size();
    // As the codec counts: a product that is whole in decimals does not round up to one more.
    const double share = kept_ * static_cast<double>(n) * (1 - 1e-12);
    const std::size_t kept = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share)));
    if (kept >= n) return;
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const auto larger = [&](std::uint32_t a, std::uint32_t b) {
      const float first = std::fabs(trained[a]), second = std::fabs(trained[b]);
      return first > second || (first == second && a < b);
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                     larger);
    for (std::size_t i = kept; i < n; ++i) upload[order[i]] = 0;
  }

 private:
  double sparsity_, kept_;
  std::string upload_;
  compressors::CodecChoice codec_;
};

OptionTable options_of_zerofl() {
  return {codec_option("csr", "sparsity",
                       "sp: share of a layer's weights that the passes leave out, and of its "
                       "inputs that the gradients of weights do; 0: dense layers."),
          codec_option("csr", "mask_ratio",
                       "r: clients send ceil((1 - sp + r) n) elements of a matrix; r = sp: all."),
          {.name = "upload",
           .type = OptionType::kChoice,
           .default_text = "weights",
           .help = "What they send: the largest weights, the changes of those, or the largest "
                   "changes.",
           .choices = {"weights", "diff-on-weights", "weights-diff"}},
          {.name = "indices",
           .type = OptionType::kChoice,
           .default_text = "u32",
           .help = "How positions are written: as the paper's rows, or with the fewest bytes.",
           .choices = {"u32", "auto"}}};
}

}  // namespace

MethodRow zerofl_row() {
  return {.name = "zerofl",
          .summary = "sparse passes at clients, which send their largest weights or changes",
          .paper =
              "Qiu and others, ZeroFL: Efficient On-Device Training for Federated Learning with "
              "Local Sparsity, arXiv 2208.02507",
          .state = Reproduction::kReproduced,
          .schedule = "rounds",
          .routes = "parameter-server",
          .sends =
              "up: a share of each matrix but the last layer's, as columns and values; the "
              "rest as fp32",
          .page = "methods/zerofl.md",
          .options = options_of_zerofl(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<ZeroFl>(settings);
          }};
}

}  // namespace gradwire::methods
