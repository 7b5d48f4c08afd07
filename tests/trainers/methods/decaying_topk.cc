#include <algorithm>
#include <cmath>

#include "trainers/methods/catalogue.h"

/// A method of one's own, as a module: the largest entries of each gradient, fewer as training goes
/// on, and momentum at the server. docs/adding-a-method.md explains it.
namespace {

using namespace gradwire;

class DecayingTopK final : public methods::Method {
 public:
  explicit DecayingTopK(const methods::MethodSettings& settings)
      : start_(settings.options.number("start")),
        halve_every_(settings.options.integer("halve_every")),
        halvings_(static_cast<std::size_t>(settings.options.integer("halvings"))),
        momentum_(static_cast<float>(settings.options.number("server_momentum"))) {}

  // A ratio by step: start, start / 2, start / 4, ...
  std::size_t phases() const override { return halvings_ + 1; }
  std::size_t phase(const methods::Moment& moment) const override {
    return std::min(static_cast<std::size_t>(moment.step / halve_every_), halvings_);
  }
  methods::SetPlan plan(std::size_t, std::size_t phase) const override {
    methods::SetPlan plan;
    const double ratio = start_ / std::exp2(static_cast<double>(phase));
    plan.up.codec = {.name = "topk", .options = {{"ratio", std::to_string(ratio)}}};
    plan.up.error_feedback = true;
    plan.update_momentum = false;
    return plan;
  }

  // State and an update at the server: v <- m v + mean, and v is what the optimiser takes.
  bool updates_at_server() const override { return true; }
  std::size_t server_state(const methods::TensorInfo& tensor) const override {
    std::size_t elements = 1;
    for (const std::int64_t extent : tensor.shape) elements *= static_cast<std::size_t>(extent);
    return elements;
  }
  void at_server(const methods::TensorInfo&, const methods::Moment&, std::span<float> mean,
                 std::span<float> velocity) const override {
    for (std::size_t e = 0; e < mean.size(); ++e)
      mean[e] = velocity[e] = momentum_ * velocity[e] + mean[e];
  }

 private:
  double start_;
  std::int64_t halve_every_;
  std::size_t halvings_;
  float momentum_;
};

std::vector<methods::MethodRow> rows() {
  const OptionSpec start = {.name = "start",
                            .type = OptionType::kNumber,
                            .default_text = "0.25",
                            .help = "Share of the elements that is sent at first.",
                            .min = 0,
                            .max = 1,
                            .min_exclusive = true};
  const OptionSpec halve_every = {.name = "halve_every",
                                  .type = OptionType::kInteger,
                                  .default_text = "10",
                                  .help = "Steps after which that share is halved.",
                                  .min = 1,
                                  .max = 1e9};
  const OptionSpec halvings = {.name = "halvings",
                               .type = OptionType::kInteger,
                               .default_text = "3",
                               .help = "How often it is halved.",
                               .min = 0,
                               .max = 20};
  const OptionSpec server_momentum = {.name = "server_momentum",
                                      .type = OptionType::kNumber,
                                      .default_text = "0.9",
                                      .help = "Momentum that the server applies to the mean.",
                                      .min = 0,
                                      .max = 1,
                                      .max_exclusive = true};
  return {{.name = "decaying-topk",
           .summary = "the largest entries, fewer as training goes on, momentum at the server",
           .paper = "none: an example",
           .state = methods::Reproduction::kNotReproduced,
           .schedule = "synchronous",
           .routes = "ring, direct, parameter-server, scatter-reduce",
           .sends = "all tensors: values and where they are",
           .page = "adding-a-method.md",
           .options = {start, halve_every, halvings, server_momentum},
           .make = [](const methods::MethodSettings& settings) -> std::unique_ptr<methods::Method> {
             return std::make_unique<DecayingTopK>(settings);
           }}};
}

}  // namespace

GRADWIRE_METHOD_MODULE(rows);
