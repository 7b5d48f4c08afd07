#include "compressors/cuda/cuda_codecs.h"

/// none, fp16 and bf16.
namespace gradwire::compressors {
namespace {

class CudaNone final : public CudaPlainCodec {
 public:
  CudaNone() : CudaPlainCodec("none") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 4 * tensor.n; }
  void enqueue_encode(const CudaEncodeJob& job, std::byte*, void* stream) const override {
    cuda::float_encode(source_of(job, stream), job.payload);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::float_decode(job.payload, to);
  }
};

class CudaHalf final : public CudaPlainCodec {
 public:
  CudaHalf(std::string name, bool saturate)
      : CudaPlainCodec(std::move(name)), bfloat_(this->name() == "bf16"), saturate_(saturate) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 2 * tensor.n; }
  bool packs_exactly() const override { return false; }
  void enqueue_encode(const CudaEncodeJob& job, std::byte*, void* stream) const override {
    const auto encode = bfloat_ ? cuda::bfloat_encode : cuda::half_encode;
    encode(source_of(job, stream), saturate_, job.payload);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    const auto decode = bfloat_ ? cuda::bfloat_decode : cuda::half_decode;
    decode(job.payload, to);
  }

 private:
  bool bfloat_, saturate_;
};

}  // namespace

CudaCodecPtr make_cuda_float_codec(std::string_view name, const OptionValues& options) {
  if (name == "none") return std::make_shared<CudaNone>();
  if (name == "fp16" || name == "bf16")
    return std::make_shared<CudaHalf>(std::string(name), options.text("overflow") == "saturate");
  return nullptr;
}

}  // namespace gradwire::compressors
