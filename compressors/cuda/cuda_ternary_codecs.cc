#include <algorithm>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/cuda/cuda_codecs.h"
#include "compressors/trits.h"

/// sign, terngrad and ternary.
namespace gradwire::compressors {
namespace {

class CudaSign final : public CudaPlainCodec {
 public:
  /// block = 0: the whole tensor.
  CudaSign(std::uint64_t block, bool scaled)
      : CudaPlainCodec("sign"),
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
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    cuda::sign_encode(source_of(job, stream), format_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::sign_decode(job.payload, format_, to);
  }

 private:
  cuda::SignFormat format_;
};

class CudaTernGrad final : public CudaPlainCodec {
 public:
  explicit CudaTernGrad(const cuda::TernGradFormat& format)
      : CudaPlainCodec("terngrad"), format_(format) {}
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

  void enqueue_local_scale(const CudaScaleJob& job, std::byte* scratch,
                           void* stream) const override {
    cuda::terngrad_scale({job.values, job.n, {}, 0, job.report, stream}, format_, job.scale,
                         scratch);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_draws(name(), job);
    if (std::isnan(job.shared_scale) || std::isinf(job.shared_scale))
      refuse_tensor(name(), "on the device", "the shared scale is not a finite number >= 0");
    auto* scale = reinterpret_cast<float*>(job.payload);
    if (job.shared_scale < 0.0f)
      cuda::terngrad_scale(source_of(job, stream), format_, scale, scratch);
    else
      cuda::store_float(job.shared_scale, scale, stream);
    cuda::terngrad_codes(source_of(job, stream), format_, job.payload);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::terngrad_decode(job.payload, format_, to);
  }

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
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_u32(name(), job.n);
    cuda::find_threshold(source_of(job, stream), scratch);
    cuda::threshold_encode(source_of(job, stream), base3_, cuda::threshold_in(scratch),
                           job.payload);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::threshold_decode(job.payload, base3_, to);
  }

 private:
  bool base3_;
};

class CudaDeadZone final : public CudaPlainCodec {
 public:
  CudaDeadZone(int bits, float dead_zone)
      : CudaPlainCodec("ternary"), bits_(bits), dead_zone_(dead_zone) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + packed_bytes(tensor.n, bits_);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return cuda::dead_zone_scratch(tensor.n);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    require_u32(name(), job.n);
    cuda::dead_zone_encode(source_of(job, stream), bits_, dead_zone_, job.payload, scratch);
  }

 protected:
  void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const override {
    cuda::dead_zone_decode(job.payload, bits_, to);
  }

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
