#include <cmath>

#include "compressors/decorators/clip.h"
#include "compressors/decorators/decorator.h"
#include "compressors/decorators/residual.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection.h"

namespace gradwire::compressors {
namespace {

/// State: velocity u (n floats, padded to 8 bytes), what was not sent v (the same), the inner
/// codec's. What is fed to v is u (or g after it, for Nesterov's form), so that error feedback's
/// fused step does the rest.
class MomentumCodec final : public Decorator, public EncodesScaled {
 public:
  MomentumCodec(CodecPtr codec, const MomentumCorrection& options)
      : Decorator(std::move(codec), "+momentum"),
        names_(dynamic_cast<const NamesElements*>(&inner())),
        selects_(dynamic_cast<const SelectsVelocities*>(&inner())),
        options_(options) {}

  std::size_t scratch_size(const TensorSpec& tensor) const override {
    const bool decodes = options_.masking && names_ == nullptr;
    return (decodes || sums() ? floats_bytes(tensor.n) : 0) + inner().scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return 2 * floats_bytes(tensor.n) + inner().state_size(tensor);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    return encode_with(job, scratch, [&](EncodeJob& own, std::span<float> u, std::span<float> v) {
      return at_once() ? encode_at_once(own, {.gradient = own.tensor.data}, u, v, scratch)
                       : encode_in_turn(own, u, v, scratch);
    });
  }

  bool encodes_scaled() const override { return at_once(); }
  std::size_t encode_scaled(EncodeJob& job, float factor,
                            std::span<std::byte> scratch) const override {
    return encode_with(job, scratch, [&](EncodeJob& own, std::span<float> u, std::span<float> v) {
      const VelocityStep step{.gradient = own.tensor.data, .factor = factor, .finite = true};
      return encode_at_once(own, step, u, v, scratch);
    });
  }

  /// The scale of v as it will be: v + u with the velocity's next value.
  float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                       std::span<std::byte> scratch) const override {
    const std::size_t n = tensor.data.size();
    const auto m = static_cast<float>(options_.momentum);
    const auto u = floats_of(state, 0, n), v = floats_of(state, floats_bytes(n), n);
    const auto next = view_as<float>(scratch, n);
    for (std::size_t e = 0; e < n; ++e) {
      const float g = tensor.data[e];
      next[e] = options_.nesterov ? v[e] + m * (u[e] + g) + g : v[e] + (m * u[e] + g);
    }
    return inner().proposed_scale({tensor.name, tensor.shape, next},
                                  state.subspan(2 * floats_bytes(n)),
                                  scratch.subspan(floats_bytes(n)));
  }

  void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    GRADWIRE_ASSERT(!options_.masking);  // sparse codecs alone are masked, and none of them sums
    const auto u = view_as<float>(job.state, n);
    const auto v = view_as<float>(job.state.subspan(floats_bytes(n)), n);
    require_finite(inner().name(), job.tensor, shared_magnitude(nullptr, job.tensor.data));
    TermsJob corrected = job;
    corrected.state = job.state.subspan(2 * floats_bytes(n));
    corrected.tensor.data = advanced(job.tensor.data, nullptr, u, v);
    encode_terms_with_residual(inner(), corrected, v, scratch);
  }

 private:
  bool at_once() const { return selects_ != nullptr && !options_.nesterov; }

  /// encode_own(job of the inner codec, u, v), and masking.
  template <class EncodeOwn>
  std::size_t encode_with(EncodeJob& job, std::span<std::byte> scratch,
                          const EncodeOwn& encode_own) const {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    const auto u = view_as<float>(job.state, n);
    const auto v = view_as<float>(job.state.subspan(floats_bytes(n)), n);
    EncodeJob corrected = job;
    corrected.state = job.state.subspan(2 * floats_bytes(n));
    job.written = encode_own(corrected, u, v);
    if (options_.masking) mask(job, u, scratch);
    return job.written;
  }

  /// `step`: with its gradient, and what is known of it.
  std::size_t encode_at_once(EncodeJob& job, VelocityStep step, std::span<float> u,
                             std::span<float> v, std::span<std::byte> scratch) const {
    step.velocity = u;
    step.momentum = static_cast<float>(options_.momentum);
    job.tensor.data = u;
    return selects_->encode_velocity(job, step, v, scratch);
  }
  std::size_t encode_in_turn(EncodeJob& job, std::span<float> u, std::span<float> v,
                             std::span<std::byte> scratch) const {
    if (job.keeps_state)
      require_finite(inner().name(), job.tensor, shared_magnitude(job.team, job.tensor.data));
    job.tensor.data = advanced(job.tensor.data, job.team, u, v);
    return inner().encode_with_residual(job, v, scratch);
  }

  /// Advances the velocity by g; gives what is to be added to v, as the inner codec's tensor.
  std::span<const float> advanced(std::span<const float> g, ThreadTeam* team, std::span<float> u,
                                  std::span<float> v) const {
    if (!options_.nesterov) return advance(g.data(), team, u);
    advance_nesterov(g.data(), team, u, v);
    return g;
  }

  // u <- m u + g
  std::span<const float> advance(const float* g, ThreadTeam* team, std::span<float> u) const {
    const VelocityStep step{.gradient = {g, u.size()},
                            .velocity = u,
                            .momentum = static_cast<float>(options_.momentum)};
    for_ranges(team, u.size(), 1024, kRangeElements,
               [&](std::size_t begin, std::size_t end) { step.take(begin, end); });
    return u;
  }

  // u <- m (u + g), v <- v + u; g is added as the inner codec's tensor
  void advance_nesterov(const float* g, ThreadTeam* team, std::span<float> u,
                        std::span<float> v) const {
    const auto m = static_cast<float>(options_.momentum);
    for_ranges(team, u.size(), 1024, kRangeElements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) {
        u[e] = m * (u[e] + g[e]);
        v[e] += u[e];
      }
    });
  }

  // u <- 0 where something was sent
  void mask(const EncodeJob& job, std::span<float> u, std::span<std::byte> scratch) const {
    DecodeJob sent{.payload = job.payload.first(job.written),
                   .side = job.side,
                   .values = u,
                   .name = job.tensor.name,
                   .shape = job.tensor.shape,
                   .team = job.team};
    if (names_ != nullptr) return names_->clear_sent(sent, scratch);
    sent.values = view_as<float>(scratch, u.size());
    inner().decode(sent, scratch.subspan(floats_bytes(u.size())));
    for (std::size_t e = 0; e < u.size(); ++e)
      if (sent.values[e] != 0.0f) u[e] = 0.0f;
  }

  const NamesElements* names_;
  const SelectsVelocities* selects_;
  MomentumCorrection options_;
};

void require_options(const Codec& inner, const MomentumCorrection& options) {
  const auto refuse = [&](const char* reason) {
    throw Error(ErrorKind::kUsage, "correct momentum", inner.name(), reason);
  };
  if (!(options.momentum >= 0 && options.momentum < 1)) refuse("momentum must be in [0, 1)");
  if (!(options.clip >= 0 && std::isfinite(options.clip))) refuse("clip must be 0 or above");
  if (options.workers < 1) refuse("workers must be 1 or more");
  if (options.masking && !is_sparse_codec(inner.name()))
    refuse("factor masking needs a sparse codec: a dense one sends every element in every step");
}

}  // namespace

CodecPtr with_momentum_correction(CodecPtr inner, const MomentumCorrection& options) {
  GRADWIRE_ASSERT(inner != nullptr);
  require_options(*inner, options);
  CodecPtr codec = std::make_shared<MomentumCodec>(std::move(inner), options);
  if (options.clip == 0) return codec;
  const double threshold = options.clip / std::sqrt(static_cast<double>(options.workers));
  return with_clipping(std::move(codec), {.by = ClipBy::kNorm, .threshold = threshold});
}

}  // namespace gradwire::compressors
