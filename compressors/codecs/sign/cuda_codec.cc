#include "compressors/codecs/sign/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaSign final : public CudaLaidOutCodec<SignLayout> {
 public:
  CudaSign(std::uint64_t block, bool scaled)
      : CudaLaidOutCodec("sign", SignLayout(block, scaled)) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::sign_scratch(tensor.n, layout());
  }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::sign_encode(from, layout()); }
  void decode_to(cuda::Decodes to) const override { cuda::sign_decode(to, layout()); }
};

}  // namespace

CudaCodecPtr make_cuda_sign(const OptionValues& options) {
  return std::make_shared<CudaSign>(static_cast<std::uint64_t>(options.integer("block")),
                                    options.text("scale") == "mean");
}

}  // namespace gradwire::compressors
