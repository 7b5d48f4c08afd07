#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/philox.h"
#include "compressors/arithmetic/levels.h"
#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"

/// Kernel launches behind plain functions, so that only .cu files are compiled by nvcc. All
/// pointers are to device memory. Encoders refuse elements that are not finite, and write a whole
/// payload. Decoders refuse bytes; those of codecs with fields check these first and change nothing
/// if one is bad, and none changes the caller's values if it trusts a payload and the report names
/// something bad when it starts. Functions of Encodes or Decodes enqueue the same number of
/// launches for any number of tensors.
namespace gradwire::compressors::cuda {

/// A tensor to encode.
struct Source {
  const float* values;
  std::uint64_t n;
  RandomStream draws;
  std::uint64_t first_element;
  CudaReport* report;
  void* stream;
};

/// A tensor to decode to: values = decoded, or += factor * decoded, the product rounded first.
struct Sink {
  float* values;
  std::uint64_t n;
  bool add;
  float factor;  ///< 1 unless `add`
  bool trusted;
  CudaReport* report;
  void* stream;
};

/// Tensors of one launch: their descriptions are a kernel's arguments, which have 4 KiB of room
/// before CUDA 12.1.
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12010
inline constexpr std::size_t kMostTensors = 192;
#else
inline constexpr std::size_t kMostTensors = 24;
#endif

/// A tensor of a batch; all are on one stream.
struct EncodeTensor {
  Source source;
  std::byte* payload;
  std::byte* scratch;     ///< its own
  std::uint64_t columns;  ///< of its shape
  float shared_scale;     ///< negative: none
};
struct DecodeTensor {
  Sink sink;  ///< `add`, `factor` and `trusted` are the same for all
  const std::byte* payload;
  std::uint64_t payload_bytes, columns;
};
/// 1 to kMostTensors of them.
using Encodes = std::span<const EncodeTensor>;
using Decodes = std::span<const DecodeTensor>;

/// At most kMostTensors of something, without an allocation.
template <class T>
class TensorList {
 public:
  void push_back(const T& item) {
    GRADWIRE_ASSERT(count_ < kMostTensors);
    items_[count_++] = item;
  }
  std::span<const T> span() const { return {items_.data(), count_}; }

 private:
  std::array<T, kMostTensors> items_;
  std::size_t count_ = 0;
};

/// Scratch is cut into parts that are aligned to this.
inline constexpr std::size_t kAlignment = 256;
inline std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

inline constexpr std::uint64_t kWrittenByKernel = ~std::uint64_t{0};

/// What a report says at the end: `written`, or with kWrittenByKernel what is there already; 0 if
/// something was refused.
struct ReportEnd {
  CudaReport* report;
  std::uint64_t written;
};

// ---- elementwise.cu
void begin_reports(std::span<const ReportEnd> reports, void* stream);
void finish_reports(std::span<const ReportEnd> reports, void* stream);
/// Refuses the first element of a tensor whose sum with its residual's is not finite; then
/// residual += values, unless something was refused.
void add_to_residuals(Encodes from, std::span<float* const> residuals);
void zero(const Sink& to);
void float_encode(Encodes from);
void float_decode(Decodes to);
void half_encode(Encodes from, bool saturate);
void half_decode(Decodes to);
void bfloat_encode(Encodes from, bool saturate);
void bfloat_decode(Decodes to);

// ---- levels.cu
std::size_t int8_scratch(std::uint64_t n);
void int8_encode(Encodes from, LevelRounding rounding);
void int8_decode(Decodes to);

struct MinMaxFormat {
  int bits;
  std::uint64_t bucket;
};
/// Of the payload of n elements, in bytes; zeros follow codes_end.
struct MinMaxPlaces {
  std::uint64_t codes_at, codes_end, end;
};
MinMaxPlaces minmax_places(const MinMaxFormat& format, std::uint64_t n);
std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket);
void minmax_encode(Encodes from, const MinMaxFormat& format, LevelRounding rounding);
void minmax_decode(Decodes to, const MinMaxFormat& format);

// ---- rows.cu: rowquant
std::size_t rows_scratch(std::uint64_t n, std::uint64_t columns);
void rows_encode(Encodes from, int bits, LevelRounding rounding);
void rows_decode(Decodes to, int bits);
std::size_t columns_scratch(std::uint64_t columns);
void columns_encode(Encodes from, int bits);
void columns_decode(Decodes to, int bits);

// ---- norms.cu: qsgd and dither
struct QsgdFormat {
  std::uint32_t levels;
  int bits;
  std::uint64_t bucket;
  bool max_norm;
};
/// Byte at which the codes of n elements begin.
std::uint64_t qsgd_codes_at(const QsgdFormat& format, std::uint64_t n);
std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket);
void qsgd_encode(Encodes from, const QsgdFormat& format);
void qsgd_decode(Decodes to, const QsgdFormat& format);

struct DitherFormat {
  int levels, bits;
  bool euclidean, natural_norm;
};
std::size_t dither_scratch(std::uint64_t n);
void dither_encode(Encodes from, const DitherFormat& format);
void dither_decode(Decodes to, const DitherFormat& format);

// ---- powers.cu: natural and log
/// lowest = 0: 9 bits.
void natural_encode(Encodes from, std::uint32_t lowest);
void natural_decode(Decodes to, std::uint32_t lowest);
std::size_t log_scratch(std::uint64_t n);
void log_encode(Encodes from);
void log_decode(Decodes to);

// ---- sign.cu
struct SignFormat {
  std::uint64_t block;  ///< elements of a block, > 0
  bool scaled;
};
std::size_t sign_scratch(std::uint64_t n, const SignFormat& format);
void sign_encode(Encodes from, const SignFormat& format);
void sign_decode(Decodes to, const SignFormat& format);

// ---- ternary.cu: terngrad, and ternary's codes
struct TernGradFormat {
  double clip;
  bool released, base3;
};
std::size_t terngrad_scratch(std::uint64_t n);
/// The tensor's own scale at the payload's start.
void terngrad_scale(Encodes from, const TernGradFormat& format);
void terngrad_encode(Encodes from, const TernGradFormat& format);
void terngrad_decode(Decodes to, const TernGradFormat& format);

/// What threshold.cu finds at the start of a tensor's scratch and threshold_encode reads.
struct FoundThreshold {
  std::uint32_t lowest;
  float level;
};
/// Header and codes of two bits or in base 3.
void threshold_encode(Encodes from, bool base3);
void threshold_decode(Decodes to, bool base3);
std::size_t dead_zone_scratch(std::uint64_t n);
void dead_zone_encode(Encodes from, int bits, float dead_zone);
void dead_zone_decode(Decodes to, int bits);

// ---- scan.cu
std::size_t scan_scratch(std::uint64_t items);
/// values[i] = the sum of those before it. items > 0.
void scan_exclusive(std::uint64_t* values, std::uint64_t items, std::byte* scratch, void* stream);

// ---- threshold.cu
std::size_t threshold_scratch(std::uint32_t n);
void find_threshold(const Source& from, std::byte* scratch);

// ---- selection.cu
struct SelectionPlan {
  std::uint32_t n, k;
  std::uint32_t most;    ///< entries at most: k, or more if sampled
  std::uint32_t sample;  ///< elements of the sample; 0 = exactly the k largest
};
/// What was selected, by ascending index; in the scratch of the call.
struct DeviceSelection {
  std::uint32_t* count;
  std::uint32_t* indices;  ///< [most]
  float* values;           ///< [most]
};
std::size_t selection_scratch(const SelectionPlan& plan);
/// Of `values`, or (residual not null) of values + residual: the residual becomes the sum, and 0
/// where an element was selected. Nothing is changed if a value or a sum is not finite.
DeviceSelection select_entries(const Source& from, float* residual, const SelectionPlan& plan,
                               std::byte* scratch);

// ---- entries.cu: topk's and dgc's payloads
void pairs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                  CudaReport* report, void* stream);
void pairs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to);
std::size_t runs_scratch(std::uint32_t most);
void runs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                 std::byte* scratch, CudaReport* report, void* stream);
void runs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to);

// ---- random.cu: randomk
/// `counts`: entries of each tensor.
void randomk_encode(Encodes from, std::span<const std::uint32_t> counts, bool shared,
                    bool unbiased);
void randomk_decode(Decodes to, std::span<const std::uint32_t> counts);

// ---- golomb.cu: stc
struct StcFormat {
  int b;                     ///< Golomb parameter
  std::uint64_t header;      ///< bytes
  std::uint64_t most_bytes;  ///< of the codes
};
std::size_t stc_scratch(std::uint32_t k, std::uint64_t most_bytes);
void stc_encode(const DeviceSelection& selected, std::uint32_t k, const StcFormat& format,
                std::byte* payload, std::byte* scratch, CudaReport* report, void* stream);
/// residual[index] = value less what stc_encode sent of it, for each entry.
void stc_subtract(const DeviceSelection& selected, std::uint32_t k, std::byte* scratch,
                  float* residual, const CudaReport* report, void* stream);

}  // namespace gradwire::compressors::cuda
