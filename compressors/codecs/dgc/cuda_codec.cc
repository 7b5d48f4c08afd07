#include "compressors/codecs/dgc/cuda.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

class CudaDgc final : public CudaSelectingCodec {
 public:
  CudaDgc(SparseCount count, SelectionRule rule) : CudaSelectingCodec("dgc", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return static_cast<std::size_t>(DgcLayout::most(tensor.n, most_of(tensor.n)).size({}));
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
      const std::uint32_t entries = entries_in<DgcLayout>(tensor.payload_bytes);
      cuda::runs_decode(tensor.payload, entries, tensor.sink);
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
