#include "compressors/decorators/clip.h"

#include <algorithm>
#include <cmath>

#include "compressors/arithmetic/bits.h"
#include "compressors/arithmetic/ternary.h"
#include "compressors/kernels/kernels.h"
#include "compressors/ordered_sum.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

/// Sums of d = g - pivot and of d^2, and the largest magnitude.
struct Moments {
  double sum = 0, sum_squares = 0;
  float largest = 0;
};

Moments moments_of(std::string_view codec, const TensorView& tensor, float pivot) {
  PairwiseSum sum, sum_squares;
  std::uint32_t largest = 0;
  const std::span<const float> data = tensor.data;
  for (std::size_t begin = 0; begin < data.size(); begin += kSumBlock) {
    const std::size_t n = std::min(kSumBlock, data.size() - begin);
    const auto block = kernels::block_moments(data.data() + begin, n, double{pivot});
    sum.add(block.sum);
    sum_squares.add(block.sum_squares);
    largest = std::max(largest, block.max_magnitude);
  }
  require_finite(codec, tensor, largest);
  return {sum.total(), sum_squares.total(), float_of(largest)};
}

class ClipCodec final : public Codec {
 public:
  ClipCodec(CodecPtr inner, const Clipping& clipping)
      : inner_(std::move(inner)),
        clipping_(clipping),
        name_(std::string(inner_->name()) + "+clip") {}

  std::string_view name() const override { return name_; }
  AggregatePolicy policy() const override {
    const AggregatePolicy inner = inner_->policy();
    // Requantising cuts tensors into parts, whose norms and sigmas are not the tensor's.
    const bool in_parts = clipping_.by == ClipBy::kValue && inner == AggregatePolicy::kRequantize;
    return inner == AggregatePolicy::kServer || in_parts ? inner : AggregatePolicy::kGather;
  }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return copy_bytes(tensor.n) + inner_->scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return inner_->state_size(tensor);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    const auto copy = view_as<float>(scratch, n);
    EncodeJob inner = job;
    if (clip(job, copy)) inner.tensor.data = copy;
    return job.written = inner_->encode(inner, scratch.subspan(copy_bytes(n)));
  }

  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    inner_->decode(job, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    inner_->decode_accumulate(job, factor, scratch);
  }
  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    return inner_->explain(payload, tensor, side);
  }

 private:
  static std::size_t copy_bytes(std::size_t n) { return padded_to_8(n * sizeof(float)); }

  /// False, and `out` untouched, where nothing needs clipping.
  bool clip(const EncodeJob& job, std::span<float> out) const {
    const TensorView& tensor = job.tensor;
    if (tensor.data.empty()) return false;
    return clipping_.by == ClipBy::kNorm ? clip_norm(job, out) : clip_values(job, out);
  }

  bool clip_norm(const EncodeJob& job, std::span<float> out) const {
    const double norm = std::sqrt(moments_of(name_, job.tensor, 0.0f).sum_squares);
    if (norm <= clipping_.threshold) return false;
    const auto factor = static_cast<float>(clipping_.threshold / norm);
    each(job, out, [factor](float value) { return value * factor; });
    return true;
  }

  bool clip_values(const EncodeJob& job, std::span<float> out) const {
    const TensorView& tensor = job.tensor;
    const bool sigma = clipping_.by == ClipBy::kSigma;
    const Moments moments = moments_of(name_, tensor, tensor.data[0]);
    const float bound = sigma ? ternary_scale(moments.sum, moments.sum_squares, moments.largest,
                                              tensor.data.size(), clipping_.threshold)
                              : static_cast<float>(clipping_.threshold);
    if (moments.largest <= bound) return false;
    each(job, out, [bound](float value) { return std::clamp(value, -bound, bound); });
    return true;
  }

  template <class Rule>
  static void each(const EncodeJob& job, std::span<float> out, Rule rule) {
    const float* values = job.tensor.data.data();
    for_ranges(job.team, out.size(), 16, kRangeElements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) out[e] = rule(values[e]);
    });
  }

  CodecPtr inner_;
  Clipping clipping_;
  std::string name_;
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
