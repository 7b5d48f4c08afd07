#include <limits>

#include "compressors/codecs/dgc/cuda.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

constexpr std::uint64_t kCountBytes = 4, kRunBytes = 6;

class CudaDgc final : public CudaSelectingCodec {
 public:
  CudaDgc(SparseCount count, SelectionRule rule) : CudaSelectingCodec("dgc", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t most = most_of(tensor.n);
    return kCountBytes + kRunBytes * (most + (tensor.n - most) / 65536 + 1);
  }
  bool has_fixed_size() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return count_.of(n); }
  std::size_t writing_scratch(const cuda::SelectionPlan& plan) const override {
    return cuda::runs_scratch(plan.most);
  }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float*, std::byte* scratch,
             void* stream) const override {
    cuda::runs_encode(selected, plan.most, job.payload, scratch, job.report, stream);
  }
  void decode_to(cuda::Decodes to) const override {
    for (const cuda::DecodeTensor& tensor : to) {
      const std::uint64_t bytes = tensor.payload_bytes, entries = (bytes - kCountBytes) / kRunBytes;
      if (bytes < kCountBytes || kCountBytes + kRunBytes * entries != bytes ||
          entries > std::numeric_limits<std::uint32_t>::max())
        refuse_payload(name(), bytes, "no count of entries gives this size");
      cuda::runs_decode(tensor.payload, static_cast<std::uint32_t>(entries), tensor.sink);
    }
  }

 private:
  SparseCount count_;
};

}  // namespace

CudaCodecPtr make_cuda_dgc(const OptionValues& options) {
  return std::make_shared<CudaDgc>(sparse_count(options), selection_rule(options));
}

}  // namespace gradwire::compressors
