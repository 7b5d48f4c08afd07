#include "compressors/decorators/clip.h"

#include <algorithm>
#include <cmath>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/terngrad/arithmetic.h"
#include "compressors/decorators/decorator.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/selection.h"
#include "compressors/tensor_moments.h"

namespace gradwire::compressors {
namespace {

class ClipCodec final : public Decorator {
 public:
  ClipCodec(CodecPtr codec, const Clipping& clipping)
      : Decorator(std::move(codec), "+clip"),
        clipping_(clipping),
        scales_(dynamic_cast<const EncodesScaled*>(&inner())) {}

  AggregatePolicy policy() const override {
    const AggregatePolicy policy = inner().policy();
    // Requantising cuts tensors into parts, whose norms and sigmas are not the tensor's.
    const bool in_parts = clipping_.by == ClipBy::kValue && policy == AggregatePolicy::kRequantize;
    const bool whole = policy == AggregatePolicy::kSum || policy == AggregatePolicy::kServer;
    return whole || in_parts ? policy : AggregatePolicy::kGather;
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return copy_bytes(tensor.n) + inner().scratch_size(tensor);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    if (clipping_.by == ClipBy::kNorm && scales_ != nullptr && scales_->encodes_scaled())
      return scales_->encode_scaled(job, norm_factor(job.tensor, job.team),
                                    scratch.subspan(copy_bytes(n)));
    EncodeJob job_inside = job;
    job_inside.tensor = clipped(job.tensor, job.team, scratch);
    return job.written = inner().encode(job_inside, scratch.subspan(copy_bytes(n)));
  }

  float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                       std::span<std::byte> scratch) const override {
    return inner().proposed_scale(clipped(tensor, nullptr, scratch), state,
                                  scratch.subspan(copy_bytes(tensor.data.size())));
  }

  void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const override {
    TermsJob job_inside = job;
    job_inside.tensor = clipped(job.tensor, nullptr, scratch);
    inner().encode_terms(job_inside, scratch.subspan(copy_bytes(job.tensor.data.size())));
  }

 private:
  static std::size_t copy_bytes(std::size_t n) { return padded_to_8(n * sizeof(float)); }

  kernels::BlockMoments moments_of(const TensorView& tensor, ThreadTeam* team, float pivot) const {
    const auto moments = tensor_moments(team, tensor.data, double{pivot});
    require_finite(name(), tensor, moments.max_magnitude);
    return moments;
  }

  /// The tensor where nothing needs clipping, else its clipped copy in `scratch`.
  TensorView clipped(const TensorView& tensor, ThreadTeam* team,
                     std::span<std::byte> scratch) const {
    if (tensor.data.empty()) return tensor;
    const auto copy = view_as<float>(scratch, tensor.data.size());
    const bool changed = clipping_.by == ClipBy::kNorm ? clip_norm(tensor, team, copy)
                                                       : clip_values(tensor, team, copy);
    return changed ? TensorView{tensor.name, tensor.shape, copy} : tensor;
  }

  /// What the tensor is to be multiplied with; 1 where its norm is small enough.
  float norm_factor(const TensorView& tensor, ThreadTeam* team) const {
    if (tensor.data.empty()) return 1.0f;
    const double norm = std::sqrt(moments_of(tensor, team, 0.0f).sum_squares);
    return norm <= clipping_.threshold ? 1.0f : static_cast<float>(clipping_.threshold / norm);
  }

  bool clip_norm(const TensorView& tensor, ThreadTeam* team, std::span<float> out) const {
    const float factor = norm_factor(tensor, team);
    if (factor == 1.0f) return false;
    each(tensor, team, out, [factor](float value) { return value * factor; });
    return true;
  }

  bool clip_values(const TensorView& tensor, ThreadTeam* team, std::span<float> out) const {
    const bool sigma = clipping_.by == ClipBy::kSigma;
    const kernels::BlockMoments moments = moments_of(tensor, team, tensor.data[0]);
    const float largest = float_of(moments.max_magnitude);
    const float bound = sigma ? ternary_scale(moments.sum, moments.sum_squares, largest,
                                              tensor.data.size(), clipping_.threshold)
                              : static_cast<float>(clipping_.threshold);
    if (largest <= bound) return false;
    each(tensor, team, out, [bound](float value) { return std::clamp(value, -bound, bound); });
    return true;
  }

  template <class Rule>
  static void each(const TensorView& tensor, ThreadTeam* team, std::span<float> out, Rule rule) {
    const float* values = tensor.data.data();
    for_ranges(team, out.size(), 16, kRangeElements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) out[e] = rule(values[e]);
    });
  }

  Clipping clipping_;
  const EncodesScaled* scales_;
};

}  // namespace

CodecPtr with_clipping(CodecPtr inner, const Clipping& clipping) {
  GRADWIRE_ASSERT(inner != nullptr);
  if (!(clipping.threshold > 0) || !std::isfinite(clipping.threshold))
    throw Error(ErrorKind::kUsage, "clip gradients at", std::to_string(clipping.threshold),
                "a clipping threshold is finite and above 0");
  return std::make_shared<ClipCodec>(std::move(inner), clipping);
}

}  // namespace gradwire::compressors
