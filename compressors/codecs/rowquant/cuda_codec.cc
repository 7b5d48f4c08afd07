#include "compressors/codecs/rowquant/cuda.h"
#include "compressors/cuda/cuda_codecs.h"

namespace gradwire::compressors {
namespace {

class CudaRowQuant final : public CudaLaidOutCodec<RowQuantLayout> {
 public:
  CudaRowQuant(int bits, bool released, LevelRounding rounding)
      : CudaLaidOutCodec("rowquant", RowQuantLayout(bits, released)),
        released_(released),
        rounding_(rounding) {}
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
      cuda::columns_encode(from, layout());
    else
      cuda::rows_encode(from, layout(), rounding_);
  }
  void decode_to(cuda::Decodes to) const override {
    const auto decode = released_ ? cuda::columns_decode : cuda::rows_decode;
    decode(to, layout());
  }

 private:
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
