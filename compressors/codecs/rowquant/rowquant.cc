#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "compressors/arithmetic/half.h"
#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/codecs/rowquant/kernel.h"
#include "compressors/field_text.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

constexpr std::string_view kName = "rowquant";
constexpr std::uint16_t kInfiniteHalf = 0x7C00;

/// All codes, b bits, most significant first, ceil(n b / 8) bytes; then one scale a row or column,
/// f16. What the two grids share. The tensor's last dimension is a row (a token), all others count
/// rows.
class RowQuantCodec : public Codec {
 public:
  explicit RowQuantCodec(int bits) : bits_(bits) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return packed_bytes(tensor.n, bits_) + 2 * scales(tensor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    require_scales(payload, tensor);
    const std::size_t used = packed_bytes(tensor.n, bits_), count = scales(tensor);
    const auto scale = [&](std::size_t i) {
      return float_text(float_from_half(load_field<std::uint16_t>(payload, used + 2 * i)));
    };
    return {code_field(payload.first(used), 0, tensor.n, bits_, BitOrder::kHighFirst, "codes"),
            {used, 2 * count, "scales", counted("f16", count), first_few(count, scale)}};
  }

 protected:
  virtual std::size_t scales(const TensorSpec& tensor) const = 0;

  [[noreturn]] static void refuse_scale(const EncodeJob& job, const char* of, std::size_t i) {
    refuse_tensor(kName, job.tensor.name,
                  std::string("the largest magnitude of ") + of + " " + std::to_string(i) +
                      " is beyond 65504, an f16 scale");
  }

  std::byte* scales_out(const EncodeJob& job) const {
    return job.payload.data() + packed_bytes(job.tensor.data.size(), bits_);
  }

  /// Scales are finite and >= 0.
  void require_scales(std::span<const std::byte> payload, const TensorSpec& tensor) const {
    require_size(kName, payload, max_encoded_size(tensor));
    for (std::size_t at = packed_bytes(tensor.n, bits_); at < payload.size(); at += 2)
      if (load_field<std::uint16_t>(payload, at) >= kInfiniteHalf)
        refuse_payload(
            kName, payload.size(),
            "byte " + std::to_string(at) + " begins a scale that is not finite and >= 0");
  }

  int bits_;
};

/// The recommended grid: 2^b points from -s to s, s = the row's largest magnitude, rounded up to
/// f16. code = floor((x + s) inverse + r), value = s (2 code - top) / top, top = 2^b - 1.
class SymmetricRows final : public RowQuantCodec {
 public:
  SymmetricRows(int bits, LevelRounding rounding)
      : RowQuantCodec(bits), top_((1u << bits) - 1), rounding_(rounding) {}

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), row = TensorSpec(job.tensor).columns();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
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
    return job.written = max_encoded_size(job.tensor);
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    decode_into(job, kernels::output_of(job.values.size_bytes()), 1.0f);
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    decode_into(job, Output::kAdd, factor);
  }

 private:
  std::size_t scales(const TensorSpec& tensor) const override {
    return tensor.n == 0 ? 0 : tensor.n / tensor.columns();
  }
  static float scale_at(const std::byte* scales, std::size_t row) {
    std::uint16_t half;
    std::memcpy(&half, scales + 2 * row, 2);
    return float_from_half(half);
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
                   if (half >= kInfiniteHalf) fits = false;
                   std::memcpy(scales_out(job) + begin / row * 2, &half, 2);
                 }
               });
    if (!finite) require_finite(kName, job.tensor, kInfinityBits);
    for (std::size_t i = 0; !fits; ++i)
      if (std::isinf(scale_at(scales_out(job), i))) refuse_scale(job, "row", i);
  }

  void decode_into(const DecodeJob& job, Output output, float factor) const {
    const std::size_t n = job.values.size(), row = job.spec().columns();
    require_scales(job.payload, job.spec());
    const std::byte* halves = job.payload.data() + packed_bytes(n, bits_);
    const kernels::PackedCodes codes{job.payload.data(), bits_, BitOrder::kHighFirst};
    for_coded_buckets(job.team, n, row, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::symmetric_values(part, count, scale_at(halves, begin / row),
                                                  static_cast<float>(top_), output, factor,
                                                  job.values.data() + begin);
                      });
  }

  std::uint32_t top_;
  LevelRounding rounding_;
};

/// The released grid: s = the column's (channel's) largest magnitude over all rows, f16 to nearest;
/// y = x / (s + 1e-6) 2^(b-1), to nearest, clipped to [-2^(b-1), 2^(b-1) - 1], sent plus 2^(b-1);
/// value = y / 2^(b-1) s. Scratch: a float a column.
class ReleasedColumns final : public RowQuantCodec {
 public:
  explicit ReleasedColumns(int bits)
      : RowQuantCodec(bits), half_(static_cast<float>(1 << (bits - 1))) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return padded_to_8(4 * tensor.columns());
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t n = job.tensor.data.size(), columns = TensorSpec(job.tensor).columns();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
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
    return job.written = max_encoded_size(job.tensor);
  }

  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    decode_into(job, kernels::output_of(job.values.size_bytes()), 1.0f, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    decode_into(job, Output::kAdd, factor, scratch);
  }

 private:
  std::size_t scales(const TensorSpec& tensor) const override { return tensor.columns(); }

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
      if (half >= kInfiniteHalf) refuse_scale(job, "column", c);
      std::memcpy(scales_out(job) + 2 * c, &half, 2);
      inverses[c] = half_ / (float_from_half(half) + 1e-6f);
    }
  }

  void decode_into(const DecodeJob& job, Output output, float factor,
                   std::span<std::byte> scratch) const {
    const std::size_t n = job.values.size(), columns = job.spec().columns();
    require_scales(job.payload, job.spec());
    const auto scales = view_as<float>(scratch, columns);
    const std::size_t scales_at = packed_bytes(n, bits_);
    for (std::size_t c = 0; c < columns; ++c)
      scales[c] = float_from_half(load_field<std::uint16_t>(job.payload, scales_at + 2 * c));
    const kernels::PackedCodes codes{job.payload.data(), bits_, BitOrder::kHighFirst};
    for_coded_buckets(job.team, n, columns, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::scaled_values(part, scales.data() + begin % columns, count, half_,
                                               output, factor, job.values.data() + begin);
                      });
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
