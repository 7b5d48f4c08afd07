#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaErrorFeedback final : public CudaCodec {
 public:
  explicit CudaErrorFeedback(CudaCodecPtr inner)
      : inner_(std::move(inner)), name_(std::string(inner_->name()) + "+ef") {}
  std::string_view name() const override { return name_; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return inner_->max_encoded_size(tensor);
  }
  std::size_t state_size(const TensorSpec& tensor) const override {
    return padded_to_8(4 * tensor.n) + inner_->state_size(tensor);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return inner_->scratch_size(tensor);
  }
  bool has_fixed_size() const override { return inner_->has_fixed_size(); }
  bool decodes() const override { return inner_->decodes(); }
  bool encodes_one_by_one() const override { return inner_->encodes_one_by_one(); }

  void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                      void* stream) const override {
    cuda::TensorList<CudaEncodeJob> inner;
    cuda::TensorList<float*> residuals;
    for (CudaEncodeJob job : jobs) {
      residuals.push_back(reinterpret_cast<float*>(job.state));
      job.state += padded_to_8(4 * static_cast<std::size_t>(job.n));
      inner.push_back(job);
    }
    inner_->enqueue_encode_with_residual(inner.span(), residuals.span(), scratch, stream);
  }
  void enqueue_decode(std::span<const CudaDecodeJob> jobs, void* stream) const override {
    inner_->enqueue_decode(jobs, stream);
  }
  void enqueue_accumulate(std::span<const CudaDecodeJob> jobs, float factor, bool trusted,
                          void* stream) const override {
    inner_->enqueue_accumulate(jobs, factor, trusted, stream);
  }

 private:
  CudaCodecPtr inner_;
  std::string name_;
};

}  // namespace

CudaCodecPtr with_error_feedback(CudaCodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<CudaErrorFeedback>(std::move(inner));
}

}  // namespace gradwire::compressors
