#include <bit>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"

/// int8, minmax, rowquant and qsgd.
namespace gradwire::compressors {
namespace {

constexpr std::uint64_t count_of_buckets(std::uint64_t n, std::uint64_t bucket) {
  return n / bucket + (n % bucket != 0 ? 1 : 0);
}

class CudaInt8 final : public CudaPlainCodec {
 public:
  explicit CudaInt8(LevelRounding rounding) : CudaPlainCodec("int8"), rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 12 + tensor.n; }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::int8_scratch(tensor.n);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_u32(name(), job.n);
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
    cuda::int8_encode(source_of(job, stream), rounding_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::int8_decode(job.payload, to);
  }

 private:
  LevelRounding rounding_;
};

class CudaMinMax final : public CudaPlainCodec {
 public:
  CudaMinMax(int bits, std::uint64_t bucket, LevelRounding rounding)
      : CudaPlainCodec("minmax"), bits_(bits), bucket_(bucket), rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return format_of(tensor.n).end;
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::minmax_scratch(tensor.n, bucket_);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
    cuda::minmax_encode(source_of(job, stream), format_of(job.n), rounding_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::minmax_decode(job.payload, format_of(job.n), to);
  }

 private:
  cuda::MinMaxFormat format_of(std::uint64_t n) const {
    const std::uint64_t codes_at = 8 * count_of_buckets(n, bucket_);
    const std::uint64_t codes = packed_bytes(n, bits_);
    return {bits_, bucket_, codes_at, codes_at + codes, codes_at + padded_to_8(codes)};
  }

  int bits_;
  std::uint64_t bucket_;
  LevelRounding rounding_;
};

class CudaRowQuant final : public CudaPlainCodec {
 public:
  CudaRowQuant(int bits, bool released, LevelRounding rounding)
      : CudaPlainCodec("rowquant"), bits_(bits), released_(released), rounding_(rounding) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t rows = tensor.n == 0 ? 0 : tensor.n / tensor.columns();
    return packed_bytes(tensor.n, bits_) + 2 * (released_ ? tensor.columns() : rows);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    if (released_) return cuda::columns_scratch(tensor.columns());
    return tensor.n == 0 ? 0 : cuda::rows_scratch(tensor.n, tensor.columns());
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    const cuda::RowFormat format = format_of(job.spec());
    if (rounding_ == LevelRounding::kDrawn) require_draws(name(), job);
    if (released_)
      cuda::columns_encode(source_of(job, stream), format, job.payload, scratch);
    else if (job.n > 0)
      cuda::rows_encode(source_of(job, stream), format, rounding_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    if (released_)
      cuda::columns_decode(job.payload, format_of(job.spec()), to);
    else if (job.n > 0)
      cuda::rows_decode(job.payload, format_of(job.spec()), to);
  }

 private:
  cuda::RowFormat format_of(const TensorSpec& tensor) const {
    return {bits_, tensor.columns(), packed_bytes(tensor.n, bits_)};
  }

  int bits_;
  bool released_;
  LevelRounding rounding_;
};

class CudaQsgd final : public CudaPlainCodec {
 public:
  CudaQsgd(std::uint32_t levels, std::uint64_t bucket, bool max_norm)
      : CudaPlainCodec("qsgd"),
        format_{levels, 1 + static_cast<int>(std::bit_width(levels)), bucket, max_norm, 0} {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return format_of(tensor.n).codes_at + packed_bytes(tensor.n, format_.bits);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::qsgd_scratch(tensor.n, format_.bucket);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_draws(name(), job);
    cuda::qsgd_encode(source_of(job, stream), format_of(job.n), job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::qsgd_decode(job.payload, format_of(job.n), to);
  }

 private:
  cuda::QsgdFormat format_of(std::uint64_t n) const {
    cuda::QsgdFormat format = format_;
    format.codes_at = 4 * count_of_buckets(n, format.bucket);
    return format;
  }

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
