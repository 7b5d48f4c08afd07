#include "compressors/decorators/decorator.h"
#include "compressors/decorators/residual.h"

namespace gradwire::compressors {
namespace {

class ErrorFeedbackCodec final : public Decorator {
 public:
  explicit ErrorFeedbackCodec(CodecPtr inner) : Decorator(std::move(inner), "+ef") {}

  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return (sums() ? floats_bytes(tensor.n) : 0) + inner().scratch_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return floats_bytes(tensor.n) + inner().state_size(tensor);
  }

  float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                       std::span<std::byte> scratch) const override {
    const std::size_t n = tensor.data.size();
    const auto residual = floats_of(state, 0, n);
    const auto sum = view_as<float>(scratch, n);
    for (std::size_t e = 0; e < n; ++e) sum[e] = residual[e] + tensor.data[e];
    return inner().proposed_scale({tensor.name, tensor.shape, sum}, state.subspan(floats_bytes(n)),
                                  scratch.subspan(floats_bytes(n)));
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    EncodeJob fed = job;
    fed.state = job.state.subspan(floats_bytes(n));
    job.written = inner().encode_with_residual(fed, view_as<float>(job.state, n), scratch);
    return job.written;
  }

  void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.state.size() >= state_size(job.tensor));
    TermsJob fed = job;
    fed.state = job.state.subspan(floats_bytes(n));
    encode_terms_with_residual(inner(), fed, view_as<float>(job.state, n), scratch);
  }
};

}  // namespace

CodecPtr with_error_feedback(CodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<ErrorFeedbackCodec>(std::move(inner));
}

}  // namespace gradwire::compressors
