#include "compressors/codecs/fp16/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaFp16 final : public CudaLaidOutCodec<HalfLayout> {
 public:
  explicit CudaFp16(bool saturate) : CudaLaidOutCodec("fp16", HalfLayout()), saturate_(saturate) {}
  bool packs_exactly() const override { return false; }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::fp16_encode(from, saturate_); }
  void decode_to(cuda::Decodes to) const override { cuda::fp16_decode(to); }

 private:
  bool saturate_;
};

}  // namespace

CudaCodecPtr make_cuda_fp16(const OptionValues& options) {
  if (options.text("not_finite") == "send")
    throw Error(ErrorKind::kCapability, "make codec", "fp16", "it has no CUDA version");
  return std::make_shared<CudaFp16>(options.text("overflow") == "saturate");
}

}  // namespace gradwire::compressors
