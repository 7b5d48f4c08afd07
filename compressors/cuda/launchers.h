#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/philox.h"
#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"

/// Kernel launches behind plain functions, so that only .cu files are compiled by nvcc: what all
/// codecs need, and the contract of each codec's own (compressors/codecs/<name>/cuda.h). All
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

// ---- reports.cu
void begin_reports(std::span<const ReportEnd> reports, void* stream);
void finish_reports(std::span<const ReportEnd> reports, void* stream);
/// Refuses the first element of a tensor whose sum with its residual's is not finite; then
/// residual += values, unless something was refused.
void add_to_residuals(Encodes from, std::span<float* const> residuals);
void zero(const Sink& to);
// ---- scan.cu
std::size_t scan_scratch(std::uint64_t items);
/// values[i] = the sum of those before it. items > 0.
void scan_exclusive(std::uint64_t* values, std::uint64_t items, std::byte* scratch, void* stream);

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

}  // namespace gradwire::compressors::cuda
