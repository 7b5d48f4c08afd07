#include "trainers/methods/gossip_codec.h"
#include "trainers/methods/rows.h"

/// DeepSqueeze (Tang, Lian, Qiu, Yuan, Zhang, Zhang, Liu, arXiv 1907.07346). Worker i has weights
/// x_i and what its messages have left out so far, d_i, 0 at first:
///
///   x_i <- update(x_i, its gradient);   v = x_i + d_i;   c_i = C(v);   d_i = v - c_i
///   x_i <- x_i + step (sum over j of W_ij c_j - c_i)
///
/// Nobody keeps copies of others; messages say whole weights, and have their range.
namespace gradwire::methods {
namespace {

class DeepSqueeze final : public Method {
 public:
  explicit DeepSqueeze(const OptionValues& options)
      : plan_(gossip_codec(options, true)), step_(options.number("step")) {}
  SetPlan plan(std::size_t, std::size_t) const override { return {.up = plan_}; }
  std::optional<GossipPlan> gossip() const override { return GossipPlan{.step = step_}; }
  bool of_gossip() const override { return true; }

 private:
  compressors::CodecPlan plan_;
  double step_;
};

}  // namespace

MethodRow deepsqueeze_row() {
  return {.name = "deepsqueeze",
          .summary = "gossip of compressed weights, with error feedback",
          .paper =
              "Tang and others, DeepSqueeze: Decentralization Meets Error-Compensated "
              "Compression, arXiv 1907.07346",
          .state = Reproduction::kReproduced,
          .schedule = "gossip",
          .routes = "gossip",
          .sends = "all tensors: the weights, and what earlier messages left out",
          .page = "methods/gossip.md",
          .options = gossip_options(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<DeepSqueeze>(settings.options);
          }};
}

}  // namespace gradwire::methods
