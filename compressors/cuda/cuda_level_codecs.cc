#include <bit>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"

/// int8, minmax, rowquant and qsgd.
namespace gradwire::compressors {
namespace {

class CudaInt8 final : public CudaStreamingCodec {
 public:
  explicit CudaInt8(LevelRounding rounding) : CudaStreamingCodec("int8"), rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 12 + tensor.n; }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::int8_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    require_u32(name(), job.n);
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
  }
  void encode_from(cuda::Encodes from) const override { cuda::int8_encode(from, rounding_); }
  void decode_to(cuda::Decodes to) const override { cuda::int8_decode(to); }

 private:
  LevelRounding rounding_;
};

class CudaMinMax final : public CudaStreamingCodec {
 public:
  CudaMinMax(int bits, std::uint64_t bucket, LevelRounding rounding)
      : CudaStreamingCodec("minmax"), format_{bits, bucket}, rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return cuda::minmax_places(format_, tensor.n).end;
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::minmax_scratch(tensor.n, format_.bucket);
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
  }
  void encode_from(cuda::Encodes from) const override {
    cuda::minmax_encode(from, format_, rounding_);
  }
  void decode_to(cuda::Decodes to) const override { cuda::minmax_decode(to, format_); }

 private:
  cuda::MinMaxFormat format_;
  LevelRounding rounding_;
};

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

class CudaQsgd final : public CudaStreamingCodec {
 public:
  CudaQsgd(std::uint32_t levels, std::uint64_t bucket, bool max_norm)
      : CudaStreamingCodec("qsgd"),
        format_{levels, 1 + static_cast<int>(std::bit_width(levels)), bucket, max_norm} {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return cuda::qsgd_codes_at(format_, tensor.n) + packed_bytes(tensor.n, format_.bits);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::qsgd_scratch(tensor.n, format_.bucket);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_draws(name(), job); }
  void encode_from(cuda::Encodes from) const override { cuda::qsgd_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::qsgd_decode(to, format_); }

 private:
  cuda::QsgdFormat format_;
};

CudaCodecPtr make_qsgd(const OptionValues& options) {
  if (options.text("format") != "fixed")
    throw Error(ErrorKind::kCapability, "make codec", "qsgd",
                "Elias codes have no CUDA version, only \"format\": \"fixed\" has");
  const auto given = static_cast<std::uint32_t>(options.integer("levels"));
  const std::uint32_t by_bits = (1u << (options.integer("bits") - 1)) - 1;
  return std::make_shared<CudaQsgd>(given > 0 ? given : by_bits,
                                    static_cast<std::uint64_t>(options.integer("bucket")),
                                    options.text("norm") == "max");
}

}  // namespace

CudaCodecPtr make_cuda_level_codec(std::string_view name, const OptionValues& options) {
  if (name == "qsgd") return make_qsgd(options);
  if (name != "int8" && name != "minmax" && name != "rowquant") return nullptr;
  const bool drawn = options.text("rounding") == "stochastic";
  if (name == "int8")
    return std::make_shared<CudaInt8>(drawn ? LevelRounding::kDrawn : LevelRounding::kHalfToEven);
  const LevelRounding rounding = drawn ? LevelRounding::kDrawn : LevelRounding::kHalfUp;
  const auto bits = static_cast<int>(options.integer("bits"));
  if (name == "minmax")
    return std::make_shared<CudaMinMax>(bits, static_cast<std::uint64_t>(options.integer("bucket")),
                                        rounding);
  return std::make_shared<CudaRowQuant>(bits, options.text("grid") == "released", rounding);
}

}  // namespace gradwire::compressors
