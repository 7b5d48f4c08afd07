#include "compressors/codecs/qsgd/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaQsgd final : public CudaLaidOutCodec<QsgdLayout> {
 public:
  CudaQsgd(std::uint32_t levels, std::uint64_t bucket, bool max_norm)
      : CudaLaidOutCodec("qsgd", QsgdLayout(levels, bucket)), format_{layout(), max_norm} {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::qsgd_scratch(tensor.n, layout().bucket());
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::qsgd_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::qsgd_decode(to, format_); }

 private:
  cuda::QsgdFormat format_;
};

}  // namespace

CudaCodecPtr make_cuda_qsgd(const OptionValues& options) {
  if (options.text("format") != "fixed")
    throw Error(ErrorKind::kCapability, "make codec", "qsgd",
                "Elias codes have no CUDA version, only \"format\": \"fixed\" has");
  const auto given = static_cast<std::uint32_t>(options.integer("levels"));
  const std::uint32_t by_bits = (1u << (options.integer("bits") - 1)) - 1;
  return std::make_shared<CudaQsgd>(given > 0 ? given : by_bits,
                                    static_cast<std::uint64_t>(options.integer("bucket")),
                                    options.text("norm") == "max");
}

}  // namespace gradwire::compressors
