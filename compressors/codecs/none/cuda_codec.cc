#include "compressors/codecs/none/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaNone final : public CudaLaidOutCodec<NoneLayout> {
 public:
  CudaNone() : CudaLaidOutCodec("none", NoneLayout()) {}

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::none_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::none_decode(to); }
};

}  // namespace

CudaCodecPtr make_cuda_none(const OptionValues&) {
  return std::make_shared<CudaNone>();
}

}  // namespace gradwire::compressors
