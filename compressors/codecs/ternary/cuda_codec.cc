#include "compressors/codecs/ternary/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaThreshold final : public CudaLaidOutCodec<ThresholdLayout> {
 public:
  explicit CudaThreshold(bool base3) : CudaLaidOutCodec("ternary", ThresholdLayout(base3)) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::threshold_scratch(require_u32(name(), tensor.n));
  }
  bool encodes_one_by_one() const override { return true; }  // each is sorted
  void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                      void* stream) const override {
    for (const CudaEncodeJob& job : jobs) {
      require_u32(name(), job.n);
      const cuda::EncodeTensor tensor = tensor_of(job, scratch, stream);
      cuda::find_threshold(tensor.source, scratch);
      encode_from({&tensor, 1});
    }
  }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::threshold_encode(from, layout()); }
  void decode_to(cuda::Decodes to) const override { cuda::threshold_decode(to, layout()); }
};

class CudaDeadZone final : public CudaLaidOutCodec<DeadZoneLayout> {
 public:
  CudaDeadZone(int bits, float dead_zone)
      : CudaLaidOutCodec("ternary", DeadZoneLayout(bits)), dead_zone_(dead_zone) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dead_zone_scratch(tensor.n);
  }

 protected:
  void encode_from(cuda::Encodes from) const override {
    cuda::dead_zone_encode(from, layout(), dead_zone_);
  }
  void decode_to(cuda::Decodes to) const override { cuda::dead_zone_decode(to, layout()); }

 private:
  float dead_zone_;
};

}  // namespace

CudaCodecPtr make_cuda_ternary(const OptionValues& options) {
  const auto bits = static_cast<int>(options.integer("bits"));
  if (bits == 2) return std::make_shared<CudaThreshold>(options.text("form") == "base3");
  return std::make_shared<CudaDeadZone>(bits, static_cast<float>(options.number("dead_zone")));
}

}  // namespace gradwire::compressors
