#include "trainers/methods/rows.h"

/// QCMD Adagrad and QRDA Adagrad (Xu and others, arXiv 2208.05631): quantised gradients up, a
/// sparse model down. Worker m of M sends Q(g_m), the ternary code of least error:
///
///   k = argmax c_k^2 / k, c_k = the sum of the k largest |g|;  E = c_k / k
///   Q_i = E sign(g_i) on the k largest, else 0
///
/// and the server takes the mean of all as the gradient of the optimiser `adagrad-cmd` (composite
/// mirror descent) or `adagrad-rda` (regularised dual averaging), whose l1 term makes weights zero;
/// what is not zero goes down, with a bitmap. `quantiser` stochastic is the unbiased ternary code
/// with the largest magnitude as its scale.
namespace gradwire::methods {
namespace {

class SparseAdagrad final : public Method {
 public:
  explicit SparseAdagrad(const MethodSettings& settings)
      : error_feedback_(settings.error_feedback) {
    const std::string& quantiser = settings.options.text("quantiser");
    if (quantiser == "threshold")
      codec_ = {"ternary", {{"form", settings.options.text("form")}}};
    else if (quantiser == "stochastic")
      codec_ = {"qsgd", {{"bits", "2"}, {"bucket", "1073741824"}}};
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
  compressors::CodecChoice codec_;  ///< fp32 unless quantised
};

MethodRow sparse_adagrad_row(const char* name, const char* summary, const char* optimizer) {
  return {.name = name,
          .summary = summary,
          .paper =
              "Xu and others, Distributed adaptive subgradient algorithms with quantised "
              "gradients and sparse models, arXiv 2208.05631",
          .state = Reproduction::kPartly,
          .schedule = "synchronous",
          .routes = "parameter-server; ring and direct with the update at workers",
          .sends = "up: 2 bits an element; down: the weights that are not zero, and a bitmap",
          .page = "methods/sparse-adagrad.md",
          .options = {{.name = "quantiser",
                       .type = OptionType::kChoice,
                       .default_text = "threshold",
                       .help = "The ternary code of least error, the unbiased one, or fp32.",
                       .choices = {"threshold", "stochastic", "none"}},
                      {.name = "form",
                       .type = OptionType::kChoice,
                       .default_text = "2bit",
                       .help = "threshold: 2 bits an element, or five elements a byte.",
                       .choices = {"2bit", "base3"}}},
          .optimizer = optimizer,
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<SparseAdagrad>(settings);
          }};
}

}  // namespace

MethodRow qcmd_row() {
  return sparse_adagrad_row("qcmd", "ternary gradients, a sparse model by mirror descent",
                            "adagrad-cmd");
}

MethodRow qrda_row() {
  return sparse_adagrad_row("qrda", "ternary gradients, a sparse model by dual averaging",
                            "adagrad-rda");
}

}  // namespace gradwire::methods
