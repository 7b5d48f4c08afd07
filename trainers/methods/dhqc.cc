#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// Deep hierarchical quantisation compression with dynamic client sampling (Jiang, Liu, Chen, Zhou,
/// arXiv 2212.14760), a reconstruction: its abstract alone could be read, and the sampling and the
/// choice of a part are those of arXiv 2003.09603. In round t the server sends its model to n_t
/// clients; client k sends of each weight matrix of what it changed, D, one record:
///
///   keep the max(1, floor(gamma n)) largest |D|; split them by sign; the magnitudes of each sign:
///   HQ(group, levels left): none left: the group's mean stands for all of it
///                           m = its mean; HQ({a <= m}), HQ({a > m})
///
/// biases and normalisation as fp32; the server adds the mean, by samples of those that were drawn.
/// n_t = max(n_min, ceil(C0 N e^(-beta t))) is the schedule's: /schedule/sample = C0 N,
/// sample_decay = beta, sample_least = n_min.
namespace gradwire::methods {
namespace {

class Dhqc final : public Method {
 public:
  explicit Dhqc(const MethodSettings& settings)
      : codec_(codec_choice("hquant", settings.options)),
        error_feedback_(settings.error_feedback) {}
  std::size_t sets() const override { return 2; }
  std::size_t set_of(const TensorInfo& tensor) const override {
    return tensor.shape.size() == 1 ? 1 : 0;
  }
  SetPlan plan(std::size_t set, std::size_t) const override {
    SetPlan plan;
    if (set == 0) plan.up = {.codec = codec_, .error_feedback = error_feedback_};
    return plan;
  }

 private:
  compressors::CodecChoice codec_;
  bool error_feedback_;
};

}  // namespace

MethodRow dhqc_row() {
  return {.name = "dhqc",
          .summary = "the largest changes by sign, each in groups of means of means",
          .paper =
              "Jiang and others, Deep Hierarchy Quantization Compression algorithm based on "
              "Dynamic Sampling, arXiv 2212.14760",
          .state = Reproduction::kReconstruction,
          .schedule = "rounds; synchronous",
          .routes = "parameter-server; ring, direct and scatter-reduce in lockstep",
          .sends = "up: the largest entries of matrices as leaves of a tree; vectors as fp32",
          .page = "methods/dhqc.md",
          .options = codec_options("hquant"),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<Dhqc>(settings);
          }};
}

}  // namespace gradwire::methods
