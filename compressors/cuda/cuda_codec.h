#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compressors/codec.h"

/// The CUDA twins of the CPU codecs: the same bytes for the same input. Every pointer in a job is
/// a device pointer (shapes are read in the call, on the host), every call only enqueues work on
/// `stream` (a cudaStream_t; null = the default stream) and returns: no host synchronisation, no
/// allocation. Calls on one stream run in order, so they may share scratch. A launch that fails
/// throws Error(kFailure).
namespace gradwire::compressors {

inline constexpr std::uint64_t kNothingBad = ~std::uint64_t{0};

/// Device memory, written by the call; read it once the stream has reached that point.
struct CudaReport {
  std::uint64_t written;  ///< encode: bytes of the payload; decode: elements; 0 if refused
  /// encode: first element that is NaN or Inf, or for which the format has no number; decode: first
  /// bad byte; kNothingBad if there is none
  std::uint64_t first_bad;
};

struct CudaEncodeJob {
  const float* values = nullptr;  ///< [n]
  std::uint64_t n = 0;
  float shared_scale = -1.0f;  ///< as SideInputs::shared_scale
  RandomStream stream = {};    ///< draws, as Draws
  std::uint64_t first_element = 0;
  std::byte* state = nullptr;                ///< [state_size(n)], aligned to 8 bytes, zero = fresh
  std::byte* payload = nullptr;              ///< [max_encoded_size(n)], aligned to 4 bytes
  CudaReport* report = nullptr;              ///< one, never null
  std::span<const std::int64_t> shape = {};  ///< as TensorSpec::shape

  TensorSpec spec() const { return {static_cast<std::size_t>(n), {}, shape}; }
};

struct CudaDecodeJob {
  const std::byte* payload = nullptr;  ///< aligned to 4 bytes
  std::uint64_t payload_bytes = 0;
  float* values = nullptr;  ///< [n]
  std::uint64_t n = 0;
  CudaReport* report = nullptr;
  std::span<const std::int64_t> shape = {};  ///< as the encoder's tensor

  TensorSpec spec() const { return {static_cast<std::size_t>(n), {}, shape}; }
};

struct CudaScaleJob {
  const float* values = nullptr;  ///< [n]
  std::uint64_t n = 0;
  float* scale = nullptr;  ///< one; undefined if the report names something bad
  CudaReport* report = nullptr;
};

class CudaCodec {
 public:
  virtual ~CudaCodec() = default;
  virtual std::string_view name() const = 0;
  virtual std::size_t max_encoded_size(const TensorSpec& tensor) const = 0;
  /// Device bytes of scratch, aligned to 256, for encode. Decoding needs none.
  virtual std::size_t scratch_size(const TensorSpec&) const { return 0; }
  virtual std::size_t state_size(const TensorSpec&) const { return 0; }
  /// Every payload has max_encoded_size() bytes. If not, the report's `written` says how many.
  virtual bool has_fixed_size() const { return true; }
  /// If not, payloads are for the CPU to decode: decode and decode_accumulate throw
  /// Error(kCapability).
  virtual bool decodes() const { return true; }

  /// As Codec::wants_shared_scale().
  virtual bool wants_shared_scale() const { return false; }
  /// Sum-compatible codecs. With the agreed scale, encode() gives what SumTerms::to_terms and then
  /// pack() for one contributor give on the CPU, after this many bytes of payload.
  virtual std::size_t terms_offset() const { return 0; }
  /// False if that loses something that a worker's own term keeps (fp16: terms are binary32).
  virtual bool packs_exactly() const { return true; }
  /// The codec whose encode() gives packed terms, where this one's gives another code; null: its
  /// own.
  virtual std::shared_ptr<const CudaCodec> terms_codec() const { return nullptr; }
  /// As Codec::local_scale(), by the same ordered sum. Throws Error(kUsage) unless the codec wants
  /// a shared scale. Scratch as for encode.
  void local_scale(const CudaScaleJob& job, std::byte* scratch, void* stream) const;

  /// If the report says that an element is bad, the payload is undefined and the state unchanged,
  /// unless the element is finite and only the format has no number for it: error feedback has
  /// added it by then, as on the CPU.
  void encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const;
  /// values = decoded. Throws CodecError where the payload's size is impossible; other damage goes
  /// to the report, and values may be partly updated.
  void decode(const CudaDecodeJob& job, void* stream) const;
  /// values += factor * decoded.
  void decode_accumulate(const CudaDecodeJob& job, float factor, void* stream) const;

  /// Each gives what a call for every job gives, with the launches that a single tensor needs, not
  /// that number for every tensor (up to 192 tensors, 24 with CUDA before 12.1; a longer batch is
  /// cut into such). Jobs have memory of their own, and reports; scratch has batch_scratch_size()
  /// bytes. The arrays of jobs can go when the call returns.
  void encode_batch(std::span<const CudaEncodeJob> jobs, std::byte* scratch, void* stream) const;
  void decode_batch(std::span<const CudaDecodeJob> jobs, void* stream) const;
  void decode_accumulate_batch(std::span<const CudaDecodeJob> jobs, float factor,
                               void* stream) const;
  void local_scale_batch(std::span<const CudaScaleJob> jobs, std::byte* scratch,
                         void* stream) const;
  /// If so, encoding takes the tensors of a batch one after the other all the same: their number
  /// multiplies that of the launches.
  virtual bool encodes_one_by_one() const { return false; }
  /// Of encode_batch and local_scale_batch.
  std::size_t batch_scratch_size(std::span<const TensorSpec> tensors) const;

  /// The work between the start and the end of reports, for as many jobs as one launch takes;
  /// decorators call these. A trusted payload was written by this codec in the same report: it is
  /// not checked, and is not applied if the report already names something bad.
  virtual void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                              void* stream) const = 0;
  virtual void enqueue_decode(std::span<const CudaDecodeJob> jobs, void* stream) const = 0;
  virtual void enqueue_accumulate(std::span<const CudaDecodeJob> jobs, float factor, bool trusted,
                                  void* stream) const = 0;
  /// Encodes values + residual and leaves in residual[n] what was not sent; a residual for each
  /// job. A tensor with a value, or a sum, that is not finite changes nothing. The default is for
  /// codecs of fixed size that decode.
  virtual void enqueue_encode_with_residual(std::span<const CudaEncodeJob> jobs,
                                            std::span<float* const> residuals, std::byte* scratch,
                                            void* stream) const;
  virtual void enqueue_local_scale(std::span<const CudaScaleJob> jobs, std::byte* scratch,
                                   void* stream) const;
};

using CudaCodecPtr = std::shared_ptr<const CudaCodec>;

/// Same names and options as make_codec(). Throws Error(kUsage) for others, and Error(kCapability)
/// for codecs, or options of them, that have no CUDA version (docs/gpu.md).
CudaCodecPtr make_cuda_codec(std::string_view name,
                             const std::map<std::string, std::string>& options = {});

/// As with_error_feedback() on the CPU; same state layout.
CudaCodecPtr with_error_feedback(CudaCodecPtr inner);

/// Empty if a CUDA device can be used, else the reason why not.
std::string why_no_cuda_device();

}  // namespace gradwire::compressors
