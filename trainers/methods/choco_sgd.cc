#include "trainers/methods/gossip_codec.h"
#include "trainers/methods/rows.h"

/// CHOCO-SGD (Koloskova, Stich, Jaggi, arXiv 1902.00340, algorithm 2). Worker i has weights x_i,
/// and everyone who has its messages a copy y_i, 0 at first:
///
///   x_i <- update(x_i, its gradient);   q_i = C(x_i - y_i);   y_i <- y_i + q_i
///   x_i <- x_i + step sum over j of W_ij (y_j - y_i)
///
/// What messages say shrinks as workers agree, and so does what C leaves out. The copies start at
/// 0, so that the first messages say the weights.
namespace gradwire::methods {
namespace {

class ChocoSgd final : public Method {
 public:
  explicit ChocoSgd(const OptionValues& options)
      : plan_(gossip_codec(options, false)), step_(options.number("step")) {}
  SetPlan plan(std::size_t, std::size_t) const override { return {.up = plan_}; }
  std::optional<GossipPlan> gossip() const override {
    return GossipPlan{.differences = true, .step = step_};
  }
  bool of_gossip() const override { return true; }

 private:
  compressors::CodecPlan plan_;
  double step_;
};

}  // namespace

MethodRow choco_sgd_row() {
  return {.name = "choco-sgd",
          .summary = "gossip of compressed differences to copies that neighbours keep",
          .paper =
              "Koloskova, Stich, Jaggi, Decentralized Stochastic Optimization and Gossip "
              "Algorithms with Compressed Communication, arXiv 1902.00340",
          .state = Reproduction::kReproduced,
          .schedule = "gossip",
          .routes = "gossip",
          .sends = "all tensors: what of the weights neighbours do not know yet",
          .page = "methods/gossip.md",
          .options = gossip_options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<ChocoSgd>(settings.options);
          }};
}

}  // namespace gradwire::methods
