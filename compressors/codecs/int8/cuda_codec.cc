#include "compressors/codecs/int8/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaInt8 final : public CudaLaidOutCodec<Int8Layout> {
 public:
  explicit CudaInt8(LevelRounding rounding)
      : CudaLaidOutCodec("int8", Int8Layout()), rounding_(rounding) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::int8_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    CudaLaidOutCodec::require(job);
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
  }
  void encode_from(cuda::Encodes from) const override { cuda::int8_encode(from, rounding_); }
  void decode_to(cuda::Decodes to) const override { cuda::int8_decode(to); }

 private:
  LevelRounding rounding_;
};

}  // namespace

CudaCodecPtr make_cuda_int8(const OptionValues& options) {
  const bool drawn = options.text("rounding") == "stochastic";
  return std::make_shared<CudaInt8>(drawn ? LevelRounding::kDrawn : LevelRounding::kHalfToEven);
}

}  // namespace gradwire::compressors
