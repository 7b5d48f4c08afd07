#include <bit>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"

/// natural, dither and log.
namespace gradwire::compressors {
namespace {

class CudaNatural final : public CudaStreamingCodec {
 public:
  /// lowest = 0: 9 bits.
  explicit CudaNatural(std::uint32_t lowest) : CudaStreamingCodec("natural"), lowest_(lowest) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return packed_bytes(tensor.n, lowest_ == 0 ? 9 : 8);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::natural_encode(from, lowest_); }
  void decode_to(cuda::Decodes to) const override { cuda::natural_decode(to, lowest_); }

 private:
  std::uint32_t lowest_;
};

class CudaDither final : public CudaStreamingCodec {
 public:
  explicit CudaDither(const cuda::DitherFormat& format)
      : CudaStreamingCodec("dither"), format_(format) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return (format_.natural_norm ? 2 : 4) + packed_bytes(tensor.n, format_.bits);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dither_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::dither_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::dither_decode(to, format_); }

 private:
  cuda::DitherFormat format_;
};

class CudaLog final : public CudaStreamingCodec {
 public:
  CudaLog() : CudaStreamingCodec("log") {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 5 + packed_bytes(tensor.n, 6);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::log_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_u32(name(), job.n); }
  void encode_from(cuda::Encodes from) const override { cuda::log_encode(from); }
  void decode_to(cuda::Decodes to) const override { cuda::log_decode(to); }
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
