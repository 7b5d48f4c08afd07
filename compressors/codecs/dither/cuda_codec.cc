#include <bit>

#include "compressors/bit_packing.h"
#include "compressors/codecs/dither/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaDither final : public CudaStreamingCodec {
 public:
  explicit CudaDither(const cuda::DitherFormat& format)
      : CudaStreamingCodec("dither"), format_(format) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return (format_.natural_norm ? 2 : 4) + packed_bytes(tensor.n, format_.bits);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dither_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::dither_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::dither_decode(to, format_); }

 private:
  cuda::DitherFormat format_;
};

}  // namespace

CudaCodecPtr make_cuda_dither(const OptionValues& options) {
  const auto levels = static_cast<int>(options.integer("levels"));
  return std::make_shared<CudaDither>(cuda::DitherFormat{
      .levels = levels,
      .bits = 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(levels))),
      .euclidean = options.text("p") == "2",
      .natural_norm = options.text("norm") == "natural"});
}

}  // namespace gradwire::compressors
