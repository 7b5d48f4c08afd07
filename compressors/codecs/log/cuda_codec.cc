#include "compressors/codecs/log/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaLog final : public CudaLaidOutCodec<LogLayout> {
 public:
  CudaLog() : CudaLaidOutCodec("log", LogLayout()) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::log_scratch(tensor.n);
  }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::log_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::log_decode(to); }
};

}  // namespace

CudaCodecPtr make_cuda_log(const OptionValues&) {
  return std::make_shared<CudaLog>();
}

}  // namespace gradwire::compressors
