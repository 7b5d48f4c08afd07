#include <cmath>

#include "compressors/codecs/terngrad/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaTernGrad final : public CudaLaidOutCodec<TernGradLayout> {
 public:
  explicit CudaTernGrad(const cuda::TernGradFormat& format)
      : CudaLaidOutCodec("terngrad", format.layout), format_(format) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::terngrad_scratch(tensor.n);
  }
  bool wants_shared_scale() const override { return true; }
  std::size_t terms_offset() const override {
    return static_cast<std::size_t>(layout().at<TernGradLayout::kCodes>({}));
  }
  std::shared_ptr<const CudaCodec> terms_codec() const override {
    if (!layout().base3()) return nullptr;
    return std::make_shared<CudaTernGrad>(
        cuda::TernGradFormat{format_.clip, format_.released, TernGradLayout(false)});
  }

  void enqueue_local_scale(std::span<const CudaScaleJob> jobs, std::byte* scratch,
                           void* stream) const override {
    cuda::TensorList<cuda::EncodeTensor> from;
    for (const CudaScaleJob& job : jobs) {
      auto* scale = reinterpret_cast<std::byte*>(job.scale);
      from.push_back(
          {{job.values, job.n, {}, 0, job.report, stream}, scale, scratch, job.n, -1.0f});
      scratch += cuda::aligned(scratch_size(job.n));
    }
    cuda::terngrad_scale(from.span(), format_);
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    require_draws(name(), job);
    if (!(job.shared_scale < 0.0f) || std::isinf(job.shared_scale))
      checked_shared_scale(name(), kDeviceTensor, job.shared_scale);
  }
  void encode_from(cuda::Encodes from) const override { cuda::terngrad_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::terngrad_decode(to, format_); }

 private:
  cuda::TernGradFormat format_;
};

}  // namespace

CudaCodecPtr make_cuda_terngrad(const OptionValues& options) {
  return std::make_shared<CudaTernGrad>(
      cuda::TernGradFormat{.clip = options.number("clip"),
                           .released = options.text("scale") == "released",
                           .layout = TernGradLayout(options.text("code") == "base3")});
}

}  // namespace gradwire::compressors
