#include "compressors/cuda/cuda_codecs.h"

/// none, fp16 and bf16.
namespace gradwire::compressors {
namespace {

class CudaNone final : public CudaStreamingCodec {
 public:
  CudaNone() : CudaStreamingCodec("none") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 4 * tensor.n; }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::float_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::float_decode(to); }
};

class CudaHalf final : public CudaStreamingCodec {
 public:
  CudaHalf(std::string name, bool saturate)
      : CudaStreamingCodec(std::move(name)), bfloat_(this->name() == "bf16"), saturate_(saturate) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 2 * tensor.n; }
  bool packs_exactly() const override { return false; }

 protected:
  void encode_from(cuda::Encodes from) const override {
    const auto encode = bfloat_ ? cuda::bfloat_encode : cuda::half_encode;
    encode(from, saturate_);
  }
  void decode_to(cuda::Decodes to) const override {
    const auto decode = bfloat_ ? cuda::bfloat_decode : cuda::half_decode;
    decode(to);
  }

 private:
  bool bfloat_, saturate_;
};

}  // namespace

CudaCodecPtr make_cuda_float_codec(std::string_view name, const OptionValues& options) {
  if (name == "none") return std::make_shared<CudaNone>();
  if (name == "fp16" && options.text("not_finite") == "send") return nullptr;
  if (name == "fp16" || name == "bf16")
    return std::make_shared<CudaHalf>(std::string(name), options.text("overflow") == "saturate");
  return nullptr;
}

}  // namespace gradwire::compressors
