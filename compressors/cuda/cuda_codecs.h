#pragma once
#include <string>

#include "compressors/cuda/launchers.h"
#include "compressors/layout/layout.h"
#include "compressors/payload.h"

/// What the CUDA codecs share, and how each is made.
namespace gradwire::compressors {

inline cuda::Source source_of(const CudaEncodeJob& job, void* stream) {
  return {job.values, job.n, job.stream, job.first_element, job.report, stream};
}

inline cuda::EncodeTensor tensor_of(const CudaEncodeJob& job, std::byte* scratch, void* stream) {
  return {source_of(job, stream), job.payload, scratch, job.spec().columns(), job.shared_scale};
}

inline constexpr std::string_view kDeviceTensor = "on the device";  ///< a tensor's name in messages

inline void require_draws(std::string_view codec, const CudaEncodeJob& job) {
  require_draws(codec, kDeviceTensor, job.n, job.first_element);
}

inline std::uint32_t require_u32(std::string_view codec, std::uint64_t n) {
  require_countable(codec, kDeviceTensor, n);
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
      if (has_fixed_size()) require_size(name_, job.payload_bytes, max_encoded_size(job.spec()));
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

/// One whose payloads are laid out as the CPU codec's: sizes follow from the same layout.
template <class LayoutOfIt>
class CudaLaidOutCodec : public CudaStreamingCodec {
 public:
  CudaLaidOutCodec(std::string name, LayoutOfIt layout)
      : CudaStreamingCodec(std::move(name)), layout_(layout) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const final {
    return static_cast<std::size_t>(layout_.size(extent_of(tensor)));
  }

 protected:
  const LayoutOfIt& layout() const { return layout_; }
  void require(const CudaEncodeJob& job) const override {
    if constexpr (LayoutOfIt::kCountsElements) require_u32(name(), job.n);
  }

 private:
  LayoutOfIt layout_;
};

// Of each codec that has a CUDA version (compressors/codecs/<name>/cuda_codec.cc), from checked
// options; throws Error(kCapability) for options that CUDA does not have.
#define GRADWIRE_CODEC(name) CudaCodecPtr make_cuda_##name(const OptionValues& options);
#include "compressors/cuda_codec_rows.inc"
#undef GRADWIRE_CODEC

}  // namespace gradwire::compressors
