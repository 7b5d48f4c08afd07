#include <algorithm>
#include <cmath>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

std::size_t residual_bytes(std::size_t n) {
  return padded_to_8(n * sizeof(float));
}

class ErrorFeedbackCodec final : public Codec {
 public:
  explicit ErrorFeedbackCodec(CodecPtr inner)
      : inner_(std::move(inner)), name_(std::string(inner_->name()) + "+ef") {}

  std::string_view name() const override { return name_; }
  AggregatePolicy policy() const override {
    const AggregatePolicy inner = inner_->policy();
    return inner == AggregatePolicy::kSum ? AggregatePolicy::kGather : inner;
  }
  std::size_t max_encoded_size(std::size_t n) const override { return inner_->max_encoded_size(n); }
  std::size_t scratch_size(std::size_t n) const override { return inner_->scratch_size(n); }
  std::size_t state_size(std::size_t n) const override {
    return residual_bytes(n) + inner_->state_size(n);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(n));
    const std::span<float> residual = view_as<float>(job.state, n);
    add_residual(job.tensor, residual);
    EncodeJob inner = job;
    inner.tensor.data = residual;
    inner.state = job.state.subspan(residual_bytes(n));
    job.written = inner_->encode(inner, scratch);
    inner_->decode_accumulate({job.payload.first(job.written), job.side, residual}, -1.0f, scratch);
    return job.written;
  }

  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    inner_->decode(job, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    inner_->decode_accumulate(job, factor, scratch);
  }

 private:
  // The tensor is checked before the residual changes, so that a refused step leaves it intact.
  void add_residual(const TensorView& tensor, std::span<float> residual) const {
    const std::size_t n = tensor.data.size();
    require_finite(name_, tensor, kernels::max_magnitude_bits(tensor.data.data(), n));
    if (kernels::add_max_magnitude_bits(tensor.data.data(), residual.data(), n) < kInfinityBits)
      return;
    std::size_t e = 0;
    while (std::isfinite(residual[e])) ++e;
    refuse_tensor(name_, tensor.name,
                  "the tensor and its residual overflow at element " + std::to_string(e));
  }

  CodecPtr inner_;
  std::string name_;
};

}  // namespace

CodecPtr with_error_feedback(CodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<ErrorFeedbackCodec>(std::move(inner));
}

}  // namespace gradwire::compressors
