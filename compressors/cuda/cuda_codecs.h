#pragma once
#include <limits>
#include <string>

#include "compressors/cuda/launchers.h"
#include "compressors/payload.h"

/// What the CUDA codecs share, and how each family's are made.
namespace gradwire::compressors {

inline cuda::Source source_of(const CudaEncodeJob& job, void* stream) {
  return {job.values, job.n, job.stream, job.first_element, job.report, stream};
}

inline void require_bytes(std::string_view codec, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  refuse_payload(codec, size, std::to_string(expected) + " bytes are expected");
}

inline void require_draws(std::string_view codec, const CudaEncodeJob& job) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  if (job.n > kMost || job.first_element > kMost - job.n)
    refuse_tensor(codec, "on the device", "a random stream has draws for 2^34 elements only");
}

inline std::uint32_t require_u32(std::string_view codec, std::uint64_t n) {
  if (n > std::numeric_limits<std::uint32_t>::max())
    refuse_tensor(codec, "on the device", "it has more elements than a 32-bit number can say");
  return static_cast<std::uint32_t>(n);
}

/// A codec whose one function decodes to any sink. Payloads of fixed size are checked for it.
class CudaPlainCodec : public CudaCodec {
 public:
  explicit CudaPlainCodec(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  void enqueue_decode(const CudaDecodeJob& job, void* stream) const override {
    decode(job, {job.values, job.n, false, 1.0f, false, job.report, stream});
  }
  void enqueue_accumulate(const CudaDecodeJob& job, float factor, bool trusted,
                          void* stream) const override {
    decode(job, {job.values, job.n, true, factor, trusted, job.report, stream});
  }
  using CudaCodec::decode;

 protected:
  virtual void decode_to(const CudaDecodeJob& job, const cuda::Sink& to) const = 0;

 private:
  void decode(const CudaDecodeJob& job, const cuda::Sink& to) const {
    if (has_fixed_size()) require_bytes(name_, job.payload_bytes, max_encoded_size(job.spec()));
    decode_to(job, to);
  }

  std::string name_;
};

/// Each: null if the name is another family's; throws Error(kCapability) for options that CUDA does
/// not have.
CudaCodecPtr make_cuda_float_codec(std::string_view name, const OptionValues& options);
CudaCodecPtr make_cuda_level_codec(std::string_view name, const OptionValues& options);
CudaCodecPtr make_cuda_power_codec(std::string_view name, const OptionValues& options);
CudaCodecPtr make_cuda_ternary_codec(std::string_view name, const OptionValues& options);
CudaCodecPtr make_cuda_sparse_codec(std::string_view name, const OptionValues& options);

}  // namespace gradwire::compressors
