#include <numeric>

#include "base/philox.h"
#include "trainers/methods/rigl_masks.h"
#include "trainers/methods/rows.h"

/// RigL (Evci and others, arXiv 1911.11134): layers whose weights are 0 outside a mask, in training
/// and after it. At step t, of each layer with n weights of which m are in its mask:
///
///   t mod every = 0, 0 < t < end, in place of the update, with the dense mean gradient g:
///     k = floor(f(t) m),  f(t) = alpha / 2 (1 + cos(pi t / end))
///     drop the k weights of the mask with the smallest |w|
///     grow the k places outside the rest of the mask with the largest |g|; new weights are 0
///   else  w <- update(w, g in the mask)
///
/// m follows from `sparsity` by Erdos-Renyi-kernel or uniform densities and stays the same. All
/// workers have the same masks, as they have the same mean: gradients are sent without positions,
/// m values a layer; all n in the steps that move masks. Tensors of one dimension are dense.
/// `grow` random is SET, none keeps the first masks.
namespace gradwire::methods {
namespace {

constexpr std::size_t kWeights = 0, kVectors = 1;
constexpr std::size_t kMoving = 0, kLearning = 1;                          // phases
constexpr std::uint32_t kMaskStream = kFirstReservedTensor + 0x40000000u;  ///< + tensor

std::size_t elements_of(const TensorInfo& tensor) {
  return std::accumulate(
      tensor.shape.begin(), tensor.shape.end(), std::size_t{1},
      [](std::size_t all, std::int64_t extent) { return all * static_cast<std::size_t>(extent); });
}

class RigL final : public Method {
 public:
  explicit RigL(const OptionValues& options)
      : sparsity_(options.number("sparsity")),
        erk_(options.text("distribution") == "erk"),
        alpha_(options.number("alpha")),
        every_(options.integer("every")),
        end_(options.integer("end")),
        growth_(options.text("grow")) {}

  std::size_t sets() const override { return 2; }
  std::size_t set_of(const TensorInfo& tensor) const override {
    return is_sparse(tensor) ? kWeights : kVectors;
  }
  std::size_t phases() const override { return 2; }
  std::size_t phase(const Moment& moment) const override {
    return moves_at(moment.step) ? kMoving : kLearning;
  }
  bool phases_alternate() const override { return true; }
  SetPlan plan(std::size_t set, std::size_t phase) const override {
    SetPlan plan;
    const bool needs_all = phase == kMoving && growth_ == "gradient";
    plan.masked = set == kWeights && !needs_all;
    return plan;
  }

  bool acts_on_model() const override { return true; }
  /// Masks, one tensor's after the other; of dense ones all 1.
  std::size_t remembers(std::span<const TensorInfo> tensors) const override {
    std::size_t all = 0;
    for (const TensorInfo& tensor : tensors) all += elements_of(tensor);
    return all;
  }
  std::vector<std::int64_t> kept(std::span<const TensorInfo> tensors) const override {
    std::vector<Shape> shapes;
    for (const TensorInfo& tensor : tensors)
      if (is_sparse(tensor)) shapes.push_back(tensor.shape);
    const std::vector<double> densities =
        erk_ ? erk_densities(shapes, sparsity_) : uniform_densities(shapes.size(), sparsity_);
    std::vector<std::int64_t> kept;
    std::size_t layer = 0;
    for (const TensorInfo& tensor : tensors) {
      const auto n = static_cast<std::int64_t>(elements_of(tensor));
      kept.push_back(is_sparse(tensor) ? kept_of(densities[layer++], n) : n);
    }
    return kept;
  }

  void start(SharedModel& model) const override {
    const std::vector<std::int64_t> counts = kept(model.tensors);
    for (std::size_t t = 0; t < model.tensors.size(); ++t) {
      const std::span<float> mask = mask_of(model, t);
      const auto tensor = static_cast<std::uint32_t>(t);
      draw_mask({model.seed, 0, 0, kMaskStream + tensor}, counts[t], mask);
      for (std::size_t e = 0; e < mask.size(); ++e) model.weights[t][e] *= mask[e];
    }
  }
  bool accept(SharedModel& model) const override {
    if (!moves_at(model.moment.step)) return true;
    const double fraction = update_fraction(alpha_, model.moment.step, end_);
    const std::vector<std::int64_t> counts = kept(model.tensors);
    for (std::size_t t = 0; t < model.tensors.size(); ++t) {
      if (!is_sparse(model.tensors[t])) continue;
      const auto k = static_cast<std::int64_t>(fraction * static_cast<double>(counts[t]));
      const std::vector<float> drawn = draws_of(model, t);
      for (const std::size_t e :
           move_mask(k, growth_ == "random" ? std::span<const float>(drawn) : model.mean[t],
                     mask_of(model, t), model.weights[t]))
        model.forget(t, e);
    }
    return false;
  }

  std::vector<std::pair<std::string, double>> figures(std::span<const float> masks) const override {
    const double ones = std::accumulate(masks.begin(), masks.end(), 0.0);
    return {{"kept_weights", ones / static_cast<double>(masks.size())}};
  }

 private:
  static bool is_sparse(const TensorInfo& tensor) { return tensor.shape.size() != 1; }
  bool moves_at(std::int64_t step) const {
    return growth_ != "none" && step > 0 && step < end_ && step % every_ == 0;
  }
  static std::span<float> mask_of(const SharedModel& model, std::size_t tensor) {
    std::size_t first = 0;
    for (std::size_t t = 0; t < tensor; ++t) first += model.weights[t].size();
    return model.remembered.subspan(first, model.weights[tensor].size());
  }
  /// Scores for random growth.
  std::vector<float> draws_of(const SharedModel& model, std::size_t tensor) const {
    std::vector<float> draws(growth_ == "random" ? model.weights[tensor].size() : 0);
    const RandomStream stream{model.seed, static_cast<std::uint32_t>(model.moment.step), 0,
                              kMaskStream + static_cast<std::uint32_t>(tensor)};
    for (std::size_t e = 0; e < draws.size(); ++e) draws[e] = uniform(stream, e);
    return draws;
  }

  double sparsity_;
  bool erk_;
  double alpha_;
  std::int64_t every_, end_;
  std::string growth_;
};

OptionTable options() {
  return {
      {.name = "sparsity",
       .type = OptionType::kNumber,
       .default_text = "0.9",
       .help = "Share of the weights of all layers together that are 0; vectors are dense.",
       .min = 0,
       .max = 1,
       .max_exclusive = true},
      {.name = "distribution",
       .type = OptionType::kChoice,
       .default_text = "erk",
       .help = "erk: small layers are denser (Erdos-Renyi kernel); uniform: all alike, but for the "
               "first layer, which is dense.",
       .choices = {"erk", "uniform"}},
      {.name = "grow",
       .type = OptionType::kChoice,
       .default_text = "gradient",
       .help = "Where masks grow: at the largest gradients (RigL), at random (SET), or nowhere: "
               "the first masks stay.",
       .choices = {"gradient", "random", "none"}},
      {.name = "alpha",
       .type = OptionType::kNumber,
       .default_text = "0.3",
       .help = "Share of a mask that moves at first; it falls to 0 as a cosine.",
       .min = 0,
       .max = 1},
      {.name = "every",
       .type = OptionType::kInteger,
       .default_text = "100",
       .help = "Steps from one move of the masks to the next.",
       .min = 2,
       .max = 1e9},
      {.name = "end",
       .type = OptionType::kInteger,
       .default_text = "25000",
       .help = "Step from which on masks stay: three quarters of a run (25,000 of 32,000 steps on "
               "ImageNet in the paper).",
       .min = 0,
       .max = 1e9}};
}

}  // namespace

MethodRow rigl_row() {
  return {.name = "rigl",
          .summary = "sparse weights whose places move to where gradients are large",
          .paper = "Evci and others, Rigging the Lottery, arXiv 1911.11134",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "any that carries fp32",
          .sends =
              "weights: fp32 of the elements in masks that all know; all elements when masks "
              "move; tensors of one dimension: fp32",
          .page = "methods/rigl.md",
          .options = options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<RigL>(settings.options);
          }};
}

}  // namespace gradwire::methods
