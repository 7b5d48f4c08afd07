#include "compressors/decorators/decorator.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

std::size_t residual_bytes(std::size_t n) {
  return padded_to_8(n * sizeof(float));
}

class ErrorFeedbackCodec final : public Decorator {
 public:
  explicit ErrorFeedbackCodec(CodecPtr inner) : Decorator(std::move(inner), "+ef") {}

  std::size_t state_size(const TensorSpec& tensor) const override {
    return residual_bytes(tensor.n) + inner().state_size(tensor);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    EncodeJob fed = job;
    fed.state = job.state.subspan(residual_bytes(n));
    job.written = inner().encode_with_residual(fed, view_as<float>(job.state, n), scratch);
    return job.written;
  }
};

}  // namespace

CodecPtr with_error_feedback(CodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<ErrorFeedbackCodec>(std::move(inner));
}

}  // namespace gradwire::compressors
