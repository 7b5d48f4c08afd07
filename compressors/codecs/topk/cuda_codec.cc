#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/topk/cuda.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

class CudaTopk final : public CudaSelectingCodec {
 public:
  CudaTopk(SparseCount count, SelectionRule rule)
      : CudaSelectingCodec("topk", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return static_cast<std::size_t>(TopkPairs(most_of(tensor.n)).size({}));
  }
  // Payloads of any number of entries are decoded.
  bool has_fixed_size() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return count_.of(n); }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float*, std::byte*, void* stream) const override {
    cuda::pairs_encode(selected, plan.most, job.payload, job.report, stream);
  }
  void decode_to(cuda::Decodes to) const override {
    for (const cuda::DecodeTensor& tensor : to) {
      const Extent extent{.n = require_u32(name(), tensor.sink.n)};
      const std::uint32_t entries = entries_in<TopkPairs>(tensor.payload_bytes);
      const CountsEntries check;
      if (!check.good(entries, nullptr, extent))
        refuse_payload(name(), tensor.payload_bytes, "byte 0 " + check.reason(entries, extent));
      cuda::pairs_decode(tensor.payload, entries, tensor.sink);
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
