#include "compressors/codecs/dither/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaDither final : public CudaLaidOutCodec<DitherLayout> {
 public:
  explicit CudaDither(const cuda::DitherFormat& format)
      : CudaLaidOutCodec("dither", format.layout), format_(format) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dither_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::dither_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::dither_decode(to, format_); }

 private:
  cuda::DitherFormat format_;
};

}  // namespace

CudaCodecPtr make_cuda_dither(const OptionValues& options) {
  const auto levels = static_cast<int>(options.integer("levels"));
  return std::make_shared<CudaDither>(
      cuda::DitherFormat{.layout = DitherLayout(levels, options.text("norm") == "natural"),
                         .euclidean = options.text("p") == "2"});
}

}  // namespace gradwire::compressors
