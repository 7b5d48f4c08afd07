#include <bit>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"

/// natural, dither and log.
namespace gradwire::compressors {
namespace {

class CudaNatural final : public CudaPlainCodec {
 public:
  /// lowest = 0: 9 bits.
  explicit CudaNatural(std::uint32_t lowest) : CudaPlainCodec("natural"), lowest_(lowest) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return packed_bytes(tensor.n, lowest_ == 0 ? 9 : 8);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte*, void* stream) const override {
    require_draws(name(), job);
    cuda::natural_encode(source_of(job, stream), lowest_, job.payload);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::natural_decode(job.payload, lowest_, to);
  }

 private:
  std::uint32_t lowest_;
};

class CudaDither final : public CudaPlainCodec {
 public:
  explicit CudaDither(const cuda::DitherFormat& format)
      : CudaPlainCodec("dither"), format_(format) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return (format_.natural_norm ? 2 : 4) + packed_bytes(tensor.n, format_.bits);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dither_scratch(tensor.n);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_draws(name(), job);
    cuda::dither_encode(source_of(job, stream), format_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::dither_decode(job.payload, format_, to);
  }

 private:
  cuda::DitherFormat format_;
};

class CudaLog final : public CudaPlainCodec {
 public:
  CudaLog() : CudaPlainCodec("log") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 5 + packed_bytes(tensor.n, 6);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::log_scratch(tensor.n);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_u32(name(), job.n);
    cuda::log_encode(source_of(job, stream), job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::log_decode(job.payload, to);
  }
};

}  // namespace

CudaCodecPtr make_cuda_power_codec(std::string_view name, const OptionValues& options) {
  if (name == "natural") {
    const auto lowest = static_cast<std::uint32_t>(options.integer("lowest") + 127);
    return std::make_shared<CudaNatural>(options.text("bits") == "9" ? 0 : lowest);
  }
  if (name == "dither") {
    const auto levels = static_cast<int>(options.integer("levels"));
    return std::make_shared<CudaDither>(cuda::DitherFormat{
        .levels = levels,
        .bits = 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(levels))),
        .euclidean = options.text("p") == "2",
        .natural_norm = options.text("norm") == "natural"});
  }
  if (name == "log") return std::make_shared<CudaLog>();
  return nullptr;
}

}  // namespace gradwire::compressors
