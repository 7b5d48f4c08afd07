#include "compressors/codecs/minmax/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaMinMax final : public CudaLaidOutCodec<MinMaxLayout> {
 public:
  CudaMinMax(int bits, std::uint64_t bucket, LevelRounding rounding)
      : CudaLaidOutCodec("minmax", MinMaxLayout(bits, bucket)), rounding_(rounding) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::minmax_scratch(tensor.n, layout().bucket());
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
  }
  void encode_from(cuda::Encodes from) const override {
    cuda::minmax_encode(from, layout(), rounding_);
  }
  void decode_to(cuda::Decodes to) const override { cuda::minmax_decode(to, layout()); }

 private:
  LevelRounding rounding_;
};

}  // namespace

CudaCodecPtr make_cuda_minmax(const OptionValues& options) {
  const bool drawn = options.text("rounding") == "stochastic";
  return std::make_shared<CudaMinMax>(static_cast<int>(options.integer("bits")),
                                      static_cast<std::uint64_t>(options.integer("bucket")),
                                      drawn ? LevelRounding::kDrawn : LevelRounding::kHalfUp);
}

}  // namespace gradwire::compressors
