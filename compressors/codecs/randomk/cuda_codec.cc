#include "compressors/codecs/randomk/cuda.h"
#include "compressors/codecs/sparse_values.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

/// k values at places that follow from a key.
class CudaRandomk final : public CudaStreamingCodec {
 public:
  CudaRandomk(SparseCount count, bool shared, bool unbiased)
      : CudaStreamingCodec("randomk"), count_(count), shared_(shared), unbiased_(unbiased) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return static_cast<std::size_t>(RandomkLayout(count_.of(tensor.n)).size({}));
  }

 protected:
  void encode_from(cuda::Encodes from) const override {
    cuda::TensorList<std::uint32_t> counts;
    for (const cuda::EncodeTensor& tensor : from) counts.push_back(entries_of(tensor.source.n));
    cuda::randomk_encode(from, counts.span(), shared_, unbiased_);
  }
  void decode_to(cuda::Decodes to) const override {
    cuda::TensorList<std::uint32_t> counts;
    for (const cuda::DecodeTensor& tensor : to) counts.push_back(entries_of(tensor.sink.n));
    cuda::randomk_decode(to, counts.span());
  }

 private:
  std::uint32_t entries_of(std::uint64_t n) const {
    return static_cast<std::uint32_t>(count_.of(require_u32(name(), n)));
  }

  SparseCount count_;
  bool shared_, unbiased_;
};

}  // namespace

CudaCodecPtr make_cuda_randomk(const OptionValues& options) {
  return std::make_shared<CudaRandomk>(sparse_count(options), options.boolean("shared"),
                                       options.boolean("unbiased"));
}

}  // namespace gradwire::compressors
