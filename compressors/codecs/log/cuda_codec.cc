#include "compressors/bit_packing.h"
#include "compressors/codecs/log/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaLog final : public CudaStreamingCodec {
 public:
  CudaLog() : CudaStreamingCodec("log") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 5 + packed_bytes(tensor.n, 6);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::log_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_u32(name(), job.n); }
  void encode_from(cuda::Encodes from) const override { cuda::log_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::log_decode(to); }
};

}  // namespace

CudaCodecPtr make_cuda_log(const OptionValues&) {
  return std::make_shared<CudaLog>();
}

}  // namespace gradwire::compressors
