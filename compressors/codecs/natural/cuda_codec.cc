#include "compressors/codecs/natural/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaNatural final : public CudaLaidOutCodec<NaturalLayout> {
 public:
  /// lowest = 0: 9 bits.
  explicit CudaNatural(std::uint32_t lowest)
      : CudaLaidOutCodec("natural", NaturalLayout(lowest == 0 ? 9 : 8)), lowest_(lowest) {}

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::natural_encode(from, lowest_); }
  void decode_to(cuda::Decodes to) const override { cuda::natural_decode(to, lowest_); }

 private:
  std::uint32_t lowest_;
};

}  // namespace

CudaCodecPtr make_cuda_natural(const OptionValues& options) {
  const auto lowest = static_cast<std::uint32_t>(options.integer("lowest") + 127);
  return std::make_shared<CudaNatural>(options.text("bits") == "9" ? 0 : lowest);
}

}  // namespace gradwire::compressors
