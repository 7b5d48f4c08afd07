#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "compressors/arithmetic/half.h"
#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/codecs/rowquant/kernel.h"
#include "compressors/codecs/rowquant/layout.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

constexpr std::string_view kName = "rowquant";

/// What the two grids share. The tensor's last dimension is a row (a token), all others count rows.
template <class Derived>
class RowQuantCodec : public LaidOutCodec<Derived, RowQuantLayout> {
 public:
  RowQuantCodec(int bits, bool columns)
      : LaidOutCodec<Derived, RowQuantLayout>(RowQuantLayout(bits, columns)), bits_(bits) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }

 protected:
  [[noreturn]] static void refuse_scale(const EncodeJob& job, const char* of, std::size_t i) {
    refuse_tensor(kName, job.tensor.name,
                  std::string("the largest magnitude of ") + of + " " + std::to_string(i) +
                      " is beyond 65504, an f16 scale");
  }

  std::byte* scales_out(const EncodeJob& job) const {
    return job.payload.data() + this->layout().scales_at(job.tensor.data.size());
  }

  int bits_;
};

/// The recommended grid: 2^b points from -s to s, s = the row's largest magnitude, rounded up to
/// f16. code = floor((x + s) inverse + r), value = s (2 code - top) / top, top = 2^b - 1.
class SymmetricRows final : public RowQuantCodec<SymmetricRows> {
 public:
  SymmetricRows(int bits, LevelRounding rounding)
      : RowQuantCodec(bits, false), top_((1u << bits) - 1), rounding_(rounding) {}

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), row = TensorSpec(job.tensor).columns();
    const std::size_t size = begin_encoding(job);
    if (rounding_ == LevelRounding::kDrawn) require_draws(kName, job.tensor, job.draws);
    write_scales(job, row);
    const kernels::CodeOutput out{job.payload.data(), bits_, BitOrder::kHighFirst};
    for_chunks(job.team, n, kernels::kLevelChunk, [&](const LevelChunk& chunk) {
      ChunkCodes codes(out, chunk, row, rounding_);
      chunk.for_buckets(row, [&](std::size_t begin, std::size_t count) {
        const float scale = scale_at(scales_out(job), begin / row);
        kernels::level_codes(job.tensor.data.data() + begin, count, level_grid(-scale, scale, top_),
                             rounding_, job.draws, begin, codes.at(begin));
      });
      codes.finish();
    });
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const std::size_t n = job.values.size(), row = job.spec().columns();
    const std::byte* halves = job.payload.data() + layout().scales_at(n);
    const kernels::PackedCodes codes{job.payload.data(), bits_, BitOrder::kHighFirst};
    for_coded_buckets(job.team, n, row, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::symmetric_values(part, count, scale_at(halves, begin / row),
                                                  static_cast<float>(top_), output, factor,
                                                  job.values.data() + begin);
                      });
  }

 private:
  static float scale_at(const std::byte* scales, std::size_t row) {
    return float_from_half(number_at<std::uint16_t>(scales + 2 * row));
  }

  void write_scales(const EncodeJob& job, std::size_t row) const {
    std::atomic<bool> finite{true}, fits{true};
    for_ranges(job.team, job.tensor.data.size(), row, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 for (; begin < end; begin += row) {
                   const std::uint32_t largest =
                       kernels::max_magnitude_bits(job.tensor.data.data() + begin, row);
                   if (largest >= kInfinityBits) finite = false;
                   const std::uint16_t half = half_above(float_of(largest));
                   if (!is_finite(float_from_half(half))) fits = false;
                   std::memcpy(scales_out(job) + begin / row * 2, &half, 2);
                 }
               });
    if (!finite) require_finite(kName, job.tensor, kInfinityBits);
    for (std::size_t i = 0; !fits; ++i)
      if (std::isinf(scale_at(scales_out(job), i))) refuse_scale(job, "row", i);
  }

  std::uint32_t top_;
  LevelRounding rounding_;
};

/// The released grid: s = the column's (channel's) largest magnitude over all rows, f16 to nearest;
/// y = x / (s + 1e-6) 2^(b-1), to nearest, clipped to [-2^(b-1), 2^(b-1) - 1], sent plus 2^(b-1);
/// value = y / 2^(b-1) s. Scratch: a float a column.
class ReleasedColumns final : public RowQuantCodec<ReleasedColumns> {
 public:
  explicit ReleasedColumns(int bits)
      : RowQuantCodec(bits, true), half_(static_cast<float>(1 << (bits - 1))) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return padded_to_8(4 * tensor.columns());
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size(), columns = TensorSpec(job.tensor).columns();
    const std::size_t size = begin_encoding(job);
    const auto inverses = view_as<float>(scratch, columns);
    write_scales(job, inverses);
    for_chunks(job.team, n, kernels::kLevelChunk, [&](const LevelChunk& chunk) {
      std::uint8_t codes[kernels::kLevelChunk];
      chunk.for_buckets(columns, [&](std::size_t begin, std::size_t count) {
        kernels::scaled_codes(job.tensor.data.data() + begin, inverses.data() + begin % columns,
                              count, half_, codes + (begin - chunk.begin));
      });
      kernels::pack_codes(codes, chunk.count, bits_, BitOrder::kHighFirst,
                          job.payload.data() + packed_bytes(chunk.begin, bits_));
    });
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte> scratch) const {
    const std::size_t n = job.values.size(), columns = job.spec().columns();
    const auto scales = view_as<float>(scratch, columns);
    const std::byte* halves = job.payload.data() + layout().scales_at(n);
    for (std::size_t c = 0; c < columns; ++c)
      scales[c] = float_from_half(number_at<std::uint16_t>(halves + 2 * c));
    const kernels::PackedCodes codes{job.payload.data(), bits_, BitOrder::kHighFirst};
    for_coded_buckets(job.team, n, columns, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::scaled_values(part, scales.data() + begin % columns, count, half_,
                                               output, factor, job.values.data() + begin);
                      });
  }

 private:
  /// Leaves half / (s + 1e-6) of each column in `inverses`.
  void write_scales(const EncodeJob& job, std::span<float> inverses) const {
    const std::span<const float> data = job.tensor.data;
    auto* largest = reinterpret_cast<std::uint32_t*>(inverses.data());
    const std::size_t columns = inverses.size();
    std::fill_n(largest, columns, 0u);
    for (std::size_t begin = 0; begin < data.size(); begin += columns)
      kernels::raise_magnitudes(data.data() + begin, columns, largest);
    for (std::size_t c = 0; c < columns; ++c) {
      require_finite(kName, job.tensor, largest[c]);
      const std::uint16_t half = half_from_float(float_of(largest[c]));
      if (!is_finite(float_from_half(half))) refuse_scale(job, "column", c);
      std::memcpy(scales_out(job) + 2 * c, &half, 2);
      inverses[c] = half_ / (float_from_half(half) + 1e-6f);
    }
  }

  float half_;
};

}  // namespace

CodecRow rowquant_row() {
  const OptionSpec grid = {
      .name = "grid",
      .type = OptionType::kChoice,
      .default_text = "symmetric",
      .help =
          "symmetric: a scale a row (token), can be unbiased; released: a scale a column "
          "(channel), always to nearest, as the authors' code",
      .choices = {"symmetric", "released"}};
  return {{.name = std::string(kName),
           .summary = "codes of 1 to 8 bits with an f16 scale for each row or column",
           .source = "Wang et al., AQ-SGD, arXiv 2206.01299",
           .policy = AggregatePolicy::kRequantize,
           .unbiased = false,
           .options = {bits_option("4", 1, 8, "bits a code"), grid,
                       rounding_option("of the symmetric grid: nearest, or stochastic, unbiased")},
           .needs_shape = true},
          [](const OptionValues& values) -> CodecPtr {
            const auto bits = static_cast<int>(values.integer("bits"));
            const bool drawn = values.text("rounding") == "stochastic";
            if (values.text("grid") == "symmetric")
              return std::make_shared<SymmetricRows>(
                  bits, drawn ? LevelRounding::kDrawn : LevelRounding::kHalfUp);
            if (drawn)
              throw Error(ErrorKind::kUsage, "make codec", "rowquant",
                          "the released grid rounds to nearest", "rounding: nearest");
            return std::make_shared<ReleasedColumns>(bits);
          }};
}

}  // namespace gradwire::compressors
