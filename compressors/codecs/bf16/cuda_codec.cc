#include "compressors/codecs/bf16/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaBf16 final : public CudaLaidOutCodec<HalfLayout> {
 public:
  explicit CudaBf16(bool saturate) : CudaLaidOutCodec("bf16", HalfLayout()), saturate_(saturate) {}
  bool packs_exactly() const override { return false; }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::bf16_encode(from, saturate_); }
  void decode_to(cuda::Decodes to) const override { cuda::bf16_decode(to); }

 private:
  bool saturate_;
};

}  // namespace

CudaCodecPtr make_cuda_bf16(const OptionValues& options) {
  return std::make_shared<CudaBf16>(options.text("overflow") == "saturate");
}

}  // namespace gradwire::compressors
