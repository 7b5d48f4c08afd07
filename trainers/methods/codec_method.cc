#include "trainers/methods/method.h"

namespace gradwire::methods {
namespace {

class CodecMethod final : public Method {
 public:
  explicit CodecMethod(const compressors::CodecPlan& plan) : plan_(plan) {}
  /// Where workers apply the momentum, the optimiser must not, or it would count twice.
  SetPlan plan(std::size_t, std::size_t) const override {
    return {.up = plan_, .update_momentum = !plan_.momentum_correction};
  }
  std::optional<GossipPlan> gossip() const override {
    if (plan_.momentum_correction) return {};
    return GossipPlan{};
  }

 private:
  compressors::CodecPlan plan_;
};

}  // namespace

std::unique_ptr<Method> make_codec_method(const compressors::CodecPlan& plan) {
  return std::make_unique<CodecMethod>(plan);
}

}  // namespace gradwire::methods
