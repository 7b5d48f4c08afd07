#pragma once
#include <cstddef>
#include <cstdint>

#include "base/philox.h"
#include "compressors/arithmetic/levels.h"
#include "compressors/cuda/cuda_codec.h"

/// Kernel launches behind plain functions, so that only .cu files are compiled by nvcc. All
/// pointers are to device memory. Encoders refuse elements that are not finite, and write a whole
/// payload. Decoders refuse bytes; those of codecs with fields check these first and change nothing
/// if one is bad, and none changes the caller's values if it trusts a payload and the report names
/// something bad when it starts.
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

inline constexpr std::uint64_t kWrittenByKernel = ~std::uint64_t{0};

// ---- elementwise.cu
void begin_report(CudaReport* report, void* stream);
/// `written`, or with kWrittenByKernel what is there already; 0 if something was refused.
void finish_report(CudaReport* report, std::uint64_t written, void* stream);
/// Refuses the first element whose sum with the addend's is not finite.
void check_sums(const Source& from, const float* addend);
/// out += values, unless something was refused.
void add(const Source& from, float* out);
void store_float(float value, float* target, void* stream);
void zero(const Sink& to);
void float_encode(const Source& from, std::byte* payload);
void float_decode(const std::byte* payload, const Sink& to);
void half_encode(const Source& from, bool saturate, std::byte* payload);
void half_decode(const std::byte* payload, const Sink& to);
void bfloat_encode(const Source& from, bool saturate, std::byte* payload);
void bfloat_decode(const std::byte* payload, const Sink& to);

// ---- levels.cu
std::size_t int8_scratch(std::uint64_t n);
void int8_encode(const Source& from, LevelRounding rounding, std::byte* payload,
                 std::byte* scratch);
void int8_decode(const std::byte* payload, const Sink& to);

struct MinMaxFormat {
  int bits;
  std::uint64_t bucket;
  std::uint64_t codes_at, codes_end, end;  ///< bytes; zeros follow codes_end
};
std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket);
void minmax_encode(const Source& from, const MinMaxFormat& format, LevelRounding rounding,
                   std::byte* payload, std::byte* scratch);
void minmax_decode(const std::byte* payload, const MinMaxFormat& format, const Sink& to);

// ---- rows.cu: rowquant
struct RowFormat {
  int bits;
  std::uint64_t columns;    ///< > 0
  std::uint64_t scales_at;  ///< byte
};
std::size_t rows_scratch(std::uint64_t n, std::uint64_t columns);
void rows_encode(const Source& from, const RowFormat& format, LevelRounding rounding,
                 std::byte* payload, std::byte* scratch);
void rows_decode(const std::byte* payload, const RowFormat& format, const Sink& to);
std::size_t columns_scratch(std::uint64_t columns);
void columns_encode(const Source& from, const RowFormat& format, std::byte* payload,
                    std::byte* scratch);
void columns_decode(const std::byte* payload, const RowFormat& format, const Sink& to);

// ---- norms.cu: qsgd and dither
struct QsgdFormat {
  std::uint32_t levels;
  int bits;
  std::uint64_t bucket;
  bool max_norm;
  std::uint64_t codes_at;  ///< byte
};
std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket);
void qsgd_encode(const Source& from, const QsgdFormat& format, std::byte* payload,
                 std::byte* scratch);
void qsgd_decode(const std::byte* payload, const QsgdFormat& format, const Sink& to);

struct DitherFormat {
  int levels, bits;
  bool euclidean, natural_norm;
};
std::size_t dither_scratch(std::uint64_t n);
void dither_encode(const Source& from, const DitherFormat& format, std::byte* payload,
                   std::byte* scratch);
void dither_decode(const std::byte* payload, const DitherFormat& format, const Sink& to);

// ---- powers.cu: natural and log
/// lowest = 0: 9 bits.
void natural_encode(const Source& from, std::uint32_t lowest, std::byte* payload);
void natural_decode(const std::byte* payload, std::uint32_t lowest, const Sink& to);
std::size_t log_scratch(std::uint64_t n);
void log_encode(const Source& from, std::byte* payload, std::byte* scratch);
void log_decode(const std::byte* payload, const Sink& to);

// ---- sign.cu
struct SignFormat {
  std::uint64_t block;  ///< elements of a block, > 0
  bool scaled;
};
std::size_t sign_scratch(std::uint64_t n, const SignFormat& format);
void sign_encode(const Source& from, const SignFormat& format, std::byte* payload,
                 std::byte* scratch);
void sign_decode(const std::byte* payload, const SignFormat& format, const Sink& to);

// ---- ternary.cu: terngrad, and ternary's codes
struct TernGradFormat {
  double clip;
  bool released, base3;
};
std::size_t terngrad_scratch(std::uint64_t n);
/// *scale = the tensor's own scale.
void terngrad_scale(const Source& from, const TernGradFormat& format, float* scale,
                    std::byte* scratch);
/// Codes with the scale at the payload's start.
void terngrad_codes(const Source& from, const TernGradFormat& format, std::byte* payload);
void terngrad_decode(const std::byte* payload, const TernGradFormat& format, const Sink& to);

/// What threshold.cu finds and ternary_codes reads.
struct FoundThreshold {
  std::uint32_t lowest;
  float level;
};
/// Header and codes of two bits or in base 3.
void threshold_encode(const Source& from, bool base3, const FoundThreshold* threshold,
                      std::byte* payload);
void threshold_decode(const std::byte* payload, bool base3, const Sink& to);
std::size_t dead_zone_scratch(std::uint64_t n);
void dead_zone_encode(const Source& from, int bits, float dead_zone, std::byte* payload,
                      std::byte* scratch);
void dead_zone_decode(const std::byte* payload, int bits, const Sink& to);

// ---- scan.cu
std::size_t scan_scratch(std::uint64_t items);
/// values[i] = the sum of those before it. items > 0.
void scan_exclusive(std::uint64_t* values, std::uint64_t items, std::byte* scratch, void* stream);

// ---- threshold.cu
/// Aligned parts of the scratch; `*found` is the first.
std::size_t threshold_scratch(std::uint32_t n);
FoundThreshold* threshold_in(std::byte* scratch);
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
void randomk_encode(const Source& from, std::uint32_t k, bool shared, float scale,
                    std::byte* payload);
void randomk_decode(const std::byte* payload, std::uint32_t k, const Sink& to);

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
