#include <algorithm>

#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// QSVRG (Alistarh and others, arXiv 1610.02132, section 3.3): QSGD with variance reduction. An
/// epoch is one exchange of full gradients and T inner steps. With the reference point y, for
/// worker i of K, whose samples are D_i:
///
///   first:  every worker sends the gradient over all of D_i at y, as fp32; mu = their mean
///   then T times, with a batch B of D_i:
///     Q(grad_B(x) - grad_B(y) + mu) is sent;  x <- x - lr mean(what all sent)
///   last:   y <- the mean of the T inner x, and x <- y
///
/// The paper's Q has sqrt(n) levels of a tensor's 2-norm; here the levels are options. It draws
/// from all samples at every worker; workers here draw from their own, which has the same mean over
/// workers where all have equally many. All workers hold y, mu and the mean of x alike.
namespace gradwire::methods {
namespace {

constexpr std::size_t kFull = 0, kInner = 1;                         // phases
constexpr std::size_t kReference = 0, kFullGradient = 1, kMean = 2;  // buffers

class Qsvrg final : public Method {
 public:
  explicit Qsvrg(const MethodSettings& settings)
      : codec_(codec_choice("qsgd", settings.options)),
        inner_steps_(settings.options.integer("inner_steps")) {}

  std::size_t phases() const override { return 2; }
  bool phases_alternate() const override { return true; }
  std::size_t phase(const Moment& moment) const override {
    return place(moment) == 0 ? kFull : kInner;
  }
  SetPlan plan(std::size_t, std::size_t phase) const override {
    SetPlan plan;
    plan.update_momentum = false;
    if (phase == kInner) plan.up.codec = codec_;
    return plan;
  }

  std::size_t buffers() const override { return 3; }
  bool computes() const override { return true; }
  double passes_in(std::size_t phase, double batches) const override {
    return phase == kFull ? batches : 2;
  }
  double compute(WorkerPasses& passes, const Moment& moment, std::span<const float> weights,
                 Memory memory, std::span<float> gradient) const override {
    if (place(moment) == 0) return passes.of_all(weights, gradient);  // x is y here
    passes.subtract_batch(memory[kReference], memory[kFullGradient], gradient);
    return passes.add_batch(weights, gradient);
  }
  bool before_update(const Moment& moment, std::span<float> mean, Memory memory) const override {
    if (place(moment) != 0) return true;
    std::ranges::copy(mean, memory[kFullGradient].begin());
    return false;
  }
  void after_update(const Moment& moment, std::span<float> weights, Memory memory) const override {
    if (place(moment) == 0) {
      std::ranges::copy(weights, memory[kReference].begin());
      std::ranges::fill(memory[kMean], 0.0f);
      return;
    }
    // As it goes on: a sum of many would round to its own size.
    const float share = 1.0f / static_cast<float>(place(moment));
    const std::span<float> mean = memory[kMean];
    for (std::size_t e = 0; e < mean.size(); ++e) mean[e] += share * (weights[e] - mean[e]);
    if (place(moment) == inner_steps_) std::ranges::copy(mean, weights.begin());
  }

 private:
  /// In the epoch: 0 is the full gradient.
  std::int64_t place(const Moment& moment) const { return moment.step % (inner_steps_ + 1); }

  compressors::CodecChoice codec_;
  std::int64_t inner_steps_;
};

OptionTable options_of_qsvrg() {
  OptionTable table = codec_options("qsgd");
  table.push_back({.name = "inner_steps",
                   .type = OptionType::kInteger,
                   .default_text = "100",
                   .help = "T, the steps between two exchanges of full gradients: 20 times the "
                           "condition number in the paper's theorem.",
                   .min = 1,
                   .max = 1e9});
  return table;
}

}  // namespace

MethodRow qsvrg_row() {
  return {.name = "qsvrg",
          .summary = "QSGD of differences from a full gradient, which is exchanged now and then",
          .paper = "Alistarh and others, QSGD, arXiv 1610.02132, section 3.3",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, direct, parameter-server, scatter-reduce",
          .sends = "full gradients as fp32, then a norm a bucket and a few bits an element",
          .page = "methods/qsgd.md",
          .options = options_of_qsvrg(),
          .optimizer = "sgd",
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<Qsvrg>(settings);
          }};
}

}  // namespace gradwire::methods
