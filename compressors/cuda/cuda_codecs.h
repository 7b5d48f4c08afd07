#pragma once
#include <limits>
#include <string>

#include "compressors/cuda/launchers.h"
#include "compressors/payload.h"

/// What the CUDA codecs share, and how each is made.
namespace gradwire::compressors {

inline cuda::Source source_of(const CudaEncodeJob& job, void* stream) {
  return {job.values, job.n, job.stream, job.first_element, job.report, stream};
}

inline cuda::EncodeTensor tensor_of(const CudaEncodeJob& job, std::byte* scratch, void* stream) {
  return {source_of(job, stream), job.payload, scratch, job.spec().columns(), job.shared_scale};
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

/// A codec whose one function decodes to any sinks. Payloads of fixed size are checked for it.
class CudaPlainCodec : public CudaCodec {
 public:
  explicit CudaPlainCodec(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  void enqueue_decode(std::span<const CudaDecodeJob> jobs, void* stream) const override {
    decode(jobs, {nullptr, 0, false, 1.0f, false, nullptr, stream});
  }
  void enqueue_accumulate(std::span<const CudaDecodeJob> jobs, float factor, bool trusted,
                          void* stream) const override {
    decode(jobs, {nullptr, 0, true, factor, trusted, nullptr, stream});
  }
  using CudaCodec::decode;

 protected:
  virtual void decode_to(cuda::Decodes to) const = 0;

 private:
  void decode(std::span<const CudaDecodeJob> jobs, cuda::Sink sink) const {
    cuda::TensorList<cuda::DecodeTensor> to;
    for (const CudaDecodeJob& job : jobs) {
      if (has_fixed_size()) require_bytes(name_, job.payload_bytes, max_encoded_size(job.spec()));
      sink.values = job.values;
      sink.n = job.n;
      sink.report = job.report;
      to.push_back({sink, job.payload, job.payload_bytes, job.spec().columns()});
    }
    decode_to(to.span());
  }

  std::string name_;
};

/// One whose passes each take all tensors of a batch.
class CudaStreamingCodec : public CudaPlainCodec {
 public:
  using CudaPlainCodec::CudaPlainCodec;
  void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                      void* stream) const override {
    cuda::TensorList<cuda::EncodeTensor> from;
    for (const CudaEncodeJob& job : jobs) {
      require(job);
      from.push_back(tensor_of(job, scratch, stream));
      scratch += cuda::aligned(scratch_size(job.spec()));
    }
    encode_from(from.span());
  }

 protected:
  /// Throws for jobs that cannot be done.
  virtual void require(const CudaEncodeJob&) const {}
  virtual void encode_from(cuda::Encodes from) const = 0;
};

// Of each codec that has a CUDA version (compressors/codecs/<name>/cuda_codec.cc), from checked
// options; throws Error(kCapability) for options that CUDA does not have.
#define GRADWIRE_CODEC(name) CudaCodecPtr make_cuda_##name(const OptionValues& options);
#include "compressors/cuda_codec_rows.inc"
#undef GRADWIRE_CODEC

}  // namespace gradwire::compressors
