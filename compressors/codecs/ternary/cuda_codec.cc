#include "compressors/bit_packing.h"
#include "compressors/codecs/ternary/cuda.h"
#include "compressors/cuda/cuda_codecs.h"
#include "compressors/trits.h"

namespace gradwire::compressors {
namespace {

class CudaThreshold final : public CudaPlainCodec {
 public:
  explicit CudaThreshold(bool base3) : CudaPlainCodec("ternary"), base3_(base3) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + (base3_ ? trit_bytes(tensor.n) : packed_bytes(tensor.n, 2));
  }
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
      cuda::threshold_encode({&tensor, 1}, base3_);
    }
  }

 protected:
  void decode_to(cuda::Decodes to) const override { cuda::threshold_decode(to, base3_); }

 private:
  bool base3_;
};

class CudaDeadZone final : public CudaStreamingCodec {
 public:
  CudaDeadZone(int bits, float dead_zone)
      : CudaStreamingCodec("ternary"), bits_(bits), dead_zone_(dead_zone) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + packed_bytes(tensor.n, bits_);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dead_zone_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_u32(name(), job.n); }
  void encode_from(cuda::Encodes from) const override {
    cuda::dead_zone_encode(from, bits_, dead_zone_);
  }
  void decode_to(cuda::Decodes to) const override { cuda::dead_zone_decode(to, bits_); }

 private:
  int bits_;
  float dead_zone_;
};

}  // namespace

CudaCodecPtr make_cuda_ternary(const OptionValues& options) {
  const auto bits = static_cast<int>(options.integer("bits"));
  if (bits == 2) return std::make_shared<CudaThreshold>(options.text("form") == "base3");
  return std::make_shared<CudaDeadZone>(bits, static_cast<float>(options.number("dead_zone")));
}

}  // namespace gradwire::compressors
