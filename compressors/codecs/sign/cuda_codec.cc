#include <algorithm>
#include <limits>

#include "compressors/bit_packing.h"
#include "compressors/codecs/sign/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaSign final : public CudaStreamingCodec {
 public:
  /// block = 0: the whole tensor.
  CudaSign(std::uint64_t block, bool scaled)
      : CudaStreamingCodec("sign"),
        format_{block == 0 ? std::numeric_limits<std::uint64_t>::max() : block, scaled} {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    if (tensor.n == 0) return 0;
    const std::size_t length = std::min<std::uint64_t>(format_.block, tensor.n);
    const std::size_t blocks = (tensor.n - 1) / length + 1;
    const std::size_t header = format_.scaled ? 4 : 0;
    return (blocks - 1) * (header + packed_bytes(length, 1)) + header +
           packed_bytes(tensor.n - (blocks - 1) * length, 1);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::sign_scratch(tensor.n, format_);
  }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::sign_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::sign_decode(to, format_); }

 private:
  cuda::SignFormat format_;
};

}  // namespace

CudaCodecPtr make_cuda_sign(const OptionValues& options) {
  return std::make_shared<CudaSign>(static_cast<std::uint64_t>(options.integer("block")),
                                    options.text("scale") == "mean");
}

}  // namespace gradwire::compressors
