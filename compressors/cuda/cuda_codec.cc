#include "compressors/cuda/cuda_codec.h"

#include <cmath>
#include <limits>

#include "compressors/codecs/codecs.h"
#include "compressors/cuda/cuda_memory.h"
#include "compressors/cuda/launchers.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

void require_bytes(std::string_view codec, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  refuse_payload(codec, size, std::to_string(expected) + " bytes are expected");
}

class CudaNone final : public CudaCodec {
 public:
  std::string_view name() const override { return "none"; }
  std::size_t max_encoded_size(std::size_t n) const override { return 4 * n; }
  void enqueue_encode(const CudaEncodeJob& job, std::byte*, void* stream) const override {
    cuda::check_finite(job.values, job.n, job.report, stream);
    cuda::copy(job.values, job.n, reinterpret_cast<float*>(job.payload), job.report, stream);
  }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    require_bytes(name(), job.payload_bytes, 4 * job.n);
    cuda::copy(reinterpret_cast<const float*>(job.payload), job.n, job.values, job.report, stream);
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool,
                          void* stream) const override {
    require_bytes(name(), job.payload_bytes, 4 * job.n);
    cuda::add(reinterpret_cast<const float*>(job.payload), job.n, factor, job.values, job.report,
              stream);
  }
};

class CudaHalf final : public CudaCodec {
 public:
  explicit CudaHalf(bool saturate) : saturate_(saturate) {}
  std::string_view name() const override { return "fp16"; }
  std::size_t max_encoded_size(std::size_t n) const override { return 2 * n; }
  bool packs_exactly() const override { return false; }
  void enqueue_encode(const CudaEncodeJob& job, std::byte*, void* stream) const override {
    cuda::to_half(job.values, job.n, saturate_, job.payload, job.report, stream);
  }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    require_bytes(name(), job.payload_bytes, 2 * job.n);
    cuda::from_half(job.payload, job.n, job.values, job.report, stream);
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool,
                          void* stream) const override {
    require_bytes(name(), job.payload_bytes, 2 * job.n);
    cuda::from_half_add(job.payload, job.n, factor, job.values, job.report, stream);
  }

 private:
  bool saturate_;
};

class CudaTernGrad final : public CudaCodec {
 public:
  explicit CudaTernGrad(double clip) : clip_(clip) {}
  std::string_view name() const override { return "terngrad"; }
  std::size_t max_encoded_size(std::size_t n) const override { return 4 + (n + 3) / 4; }
  std::size_t scratch_size(std::size_t n) const override { return cuda::ternary_scratch_size(n); }
  bool wants_shared_scale() const override { return true; }
  std::size_t terms_offset() const override { return sizeof(float); }

  void enqueue_local_scale(const CudaScaleJob& job, std::byte* scratch,
                           void* stream) const override {
    cuda::ternary_own_scale(job.values, job.n, clip_, job.scale, scratch, job.report, stream);
  }
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    if (std::isnan(job.shared_scale) || std::isinf(job.shared_scale))
      refuse_tensor(name(), "on the device", "the shared scale is not a finite number >= 0");
    auto* scale = reinterpret_cast<float*>(job.payload);
    if (job.shared_scale < 0.0f)
      cuda::ternary_own_scale(job.values, job.n, clip_, scale, scratch, job.report, stream);
    else
      cuda::store_float(job.shared_scale, scale, stream);
    cuda::ternary_codes(job.values, job.n, scale, job.stream, job.first_element, job.payload + 4,
                        job.report, stream);
  }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    require_bytes(name(), job.payload_bytes, max_encoded_size(job.n));
    cuda::ternary_values(job.payload, job.n, job.values, job.report, stream);
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool trusted,
                          void* stream) const override {
    require_bytes(name(), job.payload_bytes, max_encoded_size(job.n));
    cuda::ternary_values_add(job.payload, job.n, factor, trusted, job.values, job.report, stream);
  }

 private:
  double clip_;
};

class CudaTopk final : public CudaCodec {
 public:
  explicit CudaTopk(double ratio) : ratio_(ratio) {}
  std::string_view name() const override { return "topk"; }
  std::size_t max_encoded_size(std::size_t n) const override {
    return 4 + 8 * topk_count(n, ratio_);
  }
  std::size_t scratch_size(std::size_t n) const override {
    return cuda::topk_scratch_size(checked_count(n));
  }

  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    const std::uint32_t n = checked_count(job.n);
    cuda::topk_payload(job.values, n, static_cast<std::uint32_t>(topk_count(n, ratio_)),
                       job.payload, scratch, job.report, stream);
  }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    const std::uint32_t entries = entries_of(job);
    cuda::topk_check(job.payload, entries, job.n, job.report, stream);
    cuda::zero(job.values, job.n, stream);
    cuda::topk_scatter(job.payload, entries, job.values, job.report, stream);
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool trusted,
                          void* stream) const override {
    const std::uint32_t entries = entries_of(job);
    if (!trusted) cuda::topk_check(job.payload, entries, job.n, job.report, stream);
    cuda::topk_scatter_add(job.payload, entries, factor, job.values, job.report, stream);
  }

 private:
  std::uint32_t checked_count(std::uint64_t n) const {
    if (n > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(name(), "on the device", "it has more elements than a 32-bit index can name");
    return static_cast<std::uint32_t>(n);
  }
  // The host knows only the size; the count and the entries are checked on the device.
  std::uint32_t entries_of(const CudaDecodeJob& job) const {
    if (job.payload_bytes < 4 || job.payload_bytes % 8 != 4 ||
        (job.payload_bytes - 4) / 8 > checked_count(job.n))
      refuse_payload(name(), job.payload_bytes, "no count of entries gives this size");
    return static_cast<std::uint32_t>((job.payload_bytes - 4) / 8);
  }

  double ratio_;
};

/// Fixed-size codecs only (all of today's): the payload's size is known before the device is.
class CudaErrorFeedback final : public CudaCodec {
 public:
  explicit CudaErrorFeedback(CudaCodecPtr inner)
      : inner_(std::move(inner)), name_(std::string(inner_->name()) + "+ef") {}
  std::string_view name() const override { return name_; }
  std::size_t max_encoded_size(std::size_t n) const override { return inner_->max_encoded_size(n); }
  std::size_t state_size(std::size_t n) const override {
    return padded_to_8(4 * n) + inner_->state_size(n);
  }
  std::size_t scratch_size(std::size_t n) const override { return inner_->scratch_size(n); }

  // One report for all: a bad tensor is found first and stops every kernel that would touch the
  // residual.
  void enqueue_encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const override {
    auto* residual = reinterpret_cast<float*>(job.state);
    cuda::check_finite(job.values, job.n, job.report, stream);
    cuda::add(job.values, job.n, 1.0f, residual, job.report, stream);
    cuda::check_finite(residual, job.n, job.report, stream);
    CudaEncodeJob inner = job;
    inner.values = residual;
    inner.state = job.state + padded_to_8(4 * job.n);
    inner_->enqueue_encode(inner, scratch, stream);
    const CudaDecodeJob sent{.payload = job.payload,
                             .payload_bytes = max_encoded_size(job.n),
                             .values = residual,
                             .n = job.n,
                             .report = job.report};
    inner_->enqueue_accumulate(sent, -1.0f, true, stream);
  }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    inner_->enqueue_decode(job, stream);
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool trusted,
                          void* stream) const override {
    inner_->enqueue_accumulate(job, factor, trusted, stream);
  }

 private:
  CudaCodecPtr inner_;
  std::string name_;
};

OptionValues checked_options(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  make_codec(name, options);  // refuses unknown names and bad options with the same words
  for (const CodecInfo& info : codec_catalogue())
    if (info.name == name) return OptionValues(info.options, options);
  GRADWIRE_ASSERT(!"make_codec knows a codec that the catalogue does not list");
  return {};
}

}  // namespace

void CudaCodec::encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_encode(job, scratch, stream);
  cuda::finish_report(job.report, max_encoded_size(job.n), stream);
}

void CudaCodec::local_scale(const CudaScaleJob& job, std::byte* scratch, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_local_scale(job, scratch, stream);
  cuda::finish_report(job.report, sizeof(float), stream);
}

void CudaCodec::enqueue_local_scale(const CudaScaleJob&, std::byte*, void*) const {
  throw Error(ErrorKind::kUsage, "find a scale with", name(), "it has none that workers share");
}

void CudaCodec::decode(const CudaDecodeJob& job, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_decode(job, stream);
  cuda::finish_report(job.report, job.n, stream);
}

void CudaCodec::decode_accumulate(const CudaDecodeJob& job, float factor, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_accumulate(job, factor, false, stream);
  cuda::finish_report(job.report, job.n, stream);
}

void CudaCodec::encode_batch(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                             void* stream) const {
  for (const CudaEncodeJob& job : jobs) encode(job, scratch, stream);
}

void CudaCodec::decode_batch(std::span<const CudaDecodeJob> jobs, void* stream) const {
  for (const CudaDecodeJob& job : jobs) decode(job, stream);
}

CudaCodecPtr make_cuda_codec(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  const OptionValues values = checked_options(name, options);
  if (name == "none") return std::make_shared<CudaNone>();
  if (name == "fp16") return std::make_shared<CudaHalf>(values.text("overflow") == "saturate");
  if (name == "terngrad") return std::make_shared<CudaTernGrad>(values.number("clip"));
  if (name == "topk") return std::make_shared<CudaTopk>(values.number("ratio"));
  throw Error(ErrorKind::kCapability, "make codec", name, "it has no CUDA version");
}

CudaCodecPtr with_error_feedback(CudaCodecPtr inner) {
  GRADWIRE_ASSERT(inner != nullptr);
  return std::make_shared<CudaErrorFeedback>(std::move(inner));
}

std::string why_no_cuda_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices > 0 ? "" : "no CUDA device was found";
}

}  // namespace gradwire::compressors
