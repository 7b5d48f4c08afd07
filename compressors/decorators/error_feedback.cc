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
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return inner_->scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return residual_bytes(tensor.n) + inner_->state_size(tensor);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    EncodeJob inner = job;
    inner.state = job.state.subspan(residual_bytes(n));
    job.written = inner_->encode_with_residual(inner, view_as<float>(job.state, n), scratch);
    return job.written;
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
  CodecPtr inner_;
  std::string name_;
};

}  // namespace

CodecPtr with_error_feedback(CodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<ErrorFeedbackCodec>(std::move(inner));
}

}  // namespace gradwire::compressors
