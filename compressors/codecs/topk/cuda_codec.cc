#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/topk/cuda.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

constexpr std::uint64_t kCountBytes = 4, kPairBytes = 8;

class CudaTopk final : public CudaSelectingCodec {
 public:
  CudaTopk(SparseCount count, SelectionRule rule)
      : CudaSelectingCodec("topk", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kCountBytes + kPairBytes * most_of(tensor.n);
  }
  // Payloads of any number of entries are decoded.
  bool has_fixed_size() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return count_.of(n); }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float*, std::byte*, void* stream) const override {
    cuda::pairs_encode(selected, plan.most, job.payload, job.report, stream);
  }
  // The host knows only the size; the count and the entries are checked on the device.
  void decode_to(cuda::Decodes to) const override {
    for (const cuda::DecodeTensor& tensor : to) {
      const std::uint64_t bytes = tensor.payload_bytes;
      if (bytes < kCountBytes || bytes % kPairBytes != kCountBytes ||
          bytes / kPairBytes > require_u32(name(), tensor.sink.n))
        refuse_payload(name(), bytes, "no count of entries gives this size");
      cuda::pairs_decode(tensor.payload, static_cast<std::uint32_t>(bytes / kPairBytes),
                         tensor.sink);
    }
  }

 private:
  SparseCount count_;
};

}  // namespace

CudaCodecPtr make_cuda_topk(const OptionValues& options) {
  if (options.text("indices") != "u32" || options.text("values") != "f32")
    throw Error(ErrorKind::kCapability, "make codec", "topk",
                "only indices as u32 with values as f32 have a CUDA version");
  return std::make_shared<CudaTopk>(sparse_count(options), selection_rule(options));
}

}  // namespace gradwire::compressors
