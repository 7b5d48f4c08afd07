#include "compressors/codecs/none/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaNone final : public CudaStreamingCodec {
 public:
  CudaNone() : CudaStreamingCodec("none") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 4 * tensor.n; }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::none_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::none_decode(to); }
};

}  // namespace

CudaCodecPtr make_cuda_none(const OptionValues&) {
  return std::make_shared<CudaNone>();
}

}  // namespace gradwire::compressors
