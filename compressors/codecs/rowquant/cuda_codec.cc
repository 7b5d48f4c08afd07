#include "compressors/bit_packing.h"
#include "compressors/codecs/rowquant/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaRowQuant final : public CudaStreamingCodec {
 public:
  CudaRowQuant(int bits, bool released, LevelRounding rounding)
      : CudaStreamingCodec("rowquant"), bits_(bits), released_(released), rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t rows = tensor.n == 0 ? 0 : tensor.n / tensor.columns();
    return packed_bytes(tensor.n, bits_) + 2 * (released_ ? tensor.columns() : rows);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    if (released_) return cuda::columns_scratch(tensor.columns());
    return tensor.n == 0 ? 0 : cuda::rows_scratch(tensor.n, tensor.columns());
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
  }
  void encode_from(cuda::Encodes from) const override {
    if (released_)
      cuda::columns_encode(from, bits_);
    else
      cuda::rows_encode(from, bits_, rounding_);
  }
  void decode_to(cuda::Decodes to) const override {
    const auto decode = released_ ? cuda::columns_decode : cuda::rows_decode;
    decode(to, bits_);
  }

 private:
  int bits_;
  bool released_;
  LevelRounding rounding_;
};

}  // namespace

CudaCodecPtr make_cuda_rowquant(const OptionValues& options) {
  const bool drawn = options.text("rounding") == "stochastic";
  return std::make_shared<CudaRowQuant>(static_cast<int>(options.integer("bits")),
                                        options.text("grid") == "released",
                                        drawn ? LevelRounding::kDrawn : LevelRounding::kHalfUp);
}

}  // namespace gradwire::compressors
