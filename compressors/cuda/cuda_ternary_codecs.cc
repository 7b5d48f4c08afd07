#include <algorithm>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"
#include "compressors/trits.h"

/// sign, terngrad and ternary.
namespace gradwire::compressors {
namespace {

class CudaSign final : public CudaStreamingCodec {
 public:
  /// block = 0: the whole tensor.
  CudaSign(std::uint64_t block, bool scaled)
      : CudaStreamingCodec("sign"),
        format_{block == 0 ? std::numeric_limits<std::uint64_t>::max() : block, scaled} {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    if (tensor.n == 0) return 0;
    const std::size_t length = std::min<std::uint64_t>(format_.block, tensor.n);
    const std::size_t blocks = (tensor.n - 1) / length + 1;
    const std::size_t header = format_.scaled ? 4 : 0;
    return (blocks - 1) * (header + packed_bytes(length, 1)) + header +
           packed_bytes(tensor.n - (blocks - 1) * length, 1);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::sign_scratch(tensor.n, format_);
  }

 protected:
  void encode_from(cuda::Encodes from) const override { cuda::sign_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::sign_decode(to, format_); }

 private:
  cuda::SignFormat format_;
};

class CudaTernGrad final : public CudaStreamingCodec {
 public:
  explicit CudaTernGrad(const cuda::TernGradFormat& format)
      : CudaStreamingCodec("terngrad"), format_(format) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return sizeof(float) + (format_.base3 ? trit_bytes(tensor.n) : packed_bytes(tensor.n, 2));
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::terngrad_scratch(tensor.n);
  }
  bool wants_shared_scale() const override { return true; }
  std::size_t terms_offset() const override { return sizeof(float); }
  std::shared_ptr<const CudaCodec> terms_codec() const override {
    if (!format_.base3) return nullptr;
    return std::make_shared<CudaTernGrad>(
        cuda::TernGradFormat{format_.clip, format_.released, false});
  }

  void enqueue_local_scale(std::span<const CudaScaleJob> jobs, std::byte* scratch,
                           void* stream) const override {
    cuda::TensorList<cuda::EncodeTensor> from;
    for (const CudaScaleJob& job : jobs) {
      auto* scale = reinterpret_cast<std::byte*>(job.scale);
      from.push_back(
          {{job.values, job.n, {}, 0, job.report, stream}, scale, scratch, job.n, -1.0f});
      scratch += cuda::aligned(scratch_size(job.n));
    }
    cuda::terngrad_scale(from.span(), format_);
  }

 protected:
  void require(const CudaEncodeJob& job) const override {
    require_draws(name(), job);
    if (std::isnan(job.shared_scale) || std::isinf(job.shared_scale))
      refuse_tensor(name(), "on the device", "the shared scale is not a finite number >= 0");
  }
  void encode_from(cuda::Encodes from) const override { cuda::terngrad_encode(from, format_); }
  void decode_to(cuda::Decodes to) const override { cuda::terngrad_decode(to, format_); }

 private:
  cuda::TernGradFormat format_;
};

class CudaThreshold final : public CudaPlainCodec {
 public:
  explicit CudaThreshold(bool base3) : CudaPlainCodec("ternary"), base3_(base3) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + (base3_ ? trit_bytes(tensor.n) : packed_bytes(tensor.n, 2));
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::threshold_scratch(require_u32(name(), tensor.n));
  }
  bool encodes_one_by_one() const override { return true; }  // each is sorted
  void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                      void* stream) const override {
    for (const CudaEncodeJob& job : jobs) {
      require_u32(name(), job.n);
      const cuda::EncodeTensor tensor = tensor_of(job, scratch, stream);
      cuda::find_threshold(tensor.source, scratch);
      cuda::threshold_encode({&tensor, 1}, base3_);
    }
  }

 protected:
  void decode_to(cuda::Decodes to) const override { cuda::threshold_decode(to, base3_); }

 private:
  bool base3_;
};

class CudaDeadZone final : public CudaStreamingCodec {
 public:
  CudaDeadZone(int bits, float dead_zone)
      : CudaStreamingCodec("ternary"), bits_(bits), dead_zone_(dead_zone) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + packed_bytes(tensor.n, bits_);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dead_zone_scratch(tensor.n);
  }

 protected:
  void require(const CudaEncodeJob& job) const override { require_u32(name(), job.n); }
  void encode_from(cuda::Encodes from) const override {
    cuda::dead_zone_encode(from, bits_, dead_zone_);
  }
  void decode_to(cuda::Decodes to) const override { cuda::dead_zone_decode(to, bits_); }

 private:
  int bits_;
  float dead_zone_;
};

CudaCodecPtr make_ternary(const OptionValues& options) {
  const auto bits = static_cast<int>(options.integer("bits"));
  if (bits == 2) return std::make_shared<CudaThreshold>(options.text("form") == "base3");
  return std::make_shared<CudaDeadZone>(bits, static_cast<float>(options.number("dead_zone")));
}

}  // namespace

CudaCodecPtr make_cuda_ternary_codec(std::string_view name, const OptionValues& options) {
  if (name == "sign")
    return std::make_shared<CudaSign>(static_cast<std::uint64_t>(options.integer("block")),
                                      options.text("scale") == "mean");
  if (name == "terngrad")
    return std::make_shared<CudaTernGrad>(
        cuda::TernGradFormat{.clip = options.number("clip"),
                             .released = options.text("scale") == "released",
                             .base3 = options.text("code") == "base3"});
  return name == "ternary" ? make_ternary(options) : nullptr;
}

}  // namespace gradwire::compressors
