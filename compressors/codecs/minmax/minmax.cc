#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/codecs/minmax/kernel.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

constexpr std::string_view kName = "minmax";
constexpr std::size_t kHeaderBytes = 8;

/// For each bucket `unit f32 | min f32`, all headers first; then all codes, b bits, LSB first,
/// padded with zeros to 8 bytes: 8 ceil(n / B) + roundup8(ceil(n b / 8)) bytes.
class MinMaxCodec final : public Codec {
 public:
  MinMaxCodec(int bits, std::size_t bucket, LevelRounding rounding)
      : bits_(bits), top_((1u << bits) - 1), bucket_(bucket), rounding_(rounding) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return header_bytes(tensor.n) + padded_to_8(packed_bytes(tensor.n, bits_));
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const override {
    return PackedElements{header_bytes(tensor.n), bits_, bucket_};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    if (rounding_ == LevelRounding::kDrawn) require_draws(kName, job.tensor, job.draws);
    const auto codes = job.payload.subspan(header_bytes(n), size - header_bytes(n));
    // Short buckets are read once; the ends of long ones wait in the headers for the second pass.
    const std::size_t whole = whole_bucket_chunk(bucket_);
    std::atomic<bool> finite{true};
    if (whole == 0) write_ends(job, finite);
    const kernels::CodeOutput out{codes.data(), bits_};
    if (whole != 0 && bucket_ % 64 == 0 && rounding_ == LevelRounding::kHalfUp)
      encode_at_once(job, out, whole, finite);
    else
      encode_chunks(job, out, whole, finite);
    if (!finite) require_finite(kName, job.tensor, kInfinityBits);
    if (whole == 0)
      for (std::size_t begin = 0; begin < n; begin += bucket_)
        write_header(job, begin, stored_ends(job, begin));
    const std::size_t used = packed_bytes(n, bits_);
    std::fill(codes.begin() + static_cast<std::ptrdiff_t>(used), codes.end(), std::byte{0});
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    decode_into(job, kernels::output_of(job.values.size_bytes()), 1.0f);
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    decode_into(job, Output::kAdd, factor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    require_size(kName, payload, max_encoded_size(tensor));
    require_headers(payload, tensor.n);
    std::vector<PayloadField> fields;
    for (std::size_t b = 0; b < buckets(tensor.n, bucket_); ++b) {
      const std::string of = " of bucket " + std::to_string(b);
      fields.push_back(float_field(payload, kHeaderBytes * b, "unit" + of));
      fields.push_back(float_field(payload, kHeaderBytes * b + 4, "min" + of));
    }
    const std::size_t begin = header_bytes(tensor.n), used = packed_bytes(tensor.n, bits_);
    fields.push_back(code_field(payload.subspan(begin, used), begin, tensor.n, bits_,
                                BitOrder::kLowFirst, "levels"));
    if (const std::size_t end = begin + used; end < payload.size())
      fields.push_back({end, payload.size() - end, "padding", "bytes", "to 8 bytes"});
    return fields;
  }

 private:
  std::size_t header_bytes(std::size_t n) const { return kHeaderBytes * buckets(n, bucket_); }

  struct Ends {
    float smallest, largest;
  };

  /// Ends of the bucket that begins at element `begin`; zeros if a value is not finite.
  Ends ends_of(const EncodeJob& job, std::size_t begin, std::atomic<bool>& finite) const {
    const std::span<const float> data = job.tensor.data;
    const auto range =
        kernels::bucket_range(data.data() + begin, std::min(bucket_, data.size() - begin));
    if (range.finite) return {range.smallest, range.largest};
    finite = false;
    return {0.0f, 0.0f};
  }

  void encode_at_once(const EncodeJob& job, const kernels::CodeOutput& out, std::size_t whole,
                      std::atomic<bool>& finite) const {
    const std::span<const float> data = job.tensor.data;
    const bool streamed = kernels::is_streamed(max_encoded_size(data.size()));
    for_ranges(
        job.team, data.size(), whole, kRangeElements, [&](std::size_t begin, std::size_t end) {
          const auto seen = kernels::bucketed_codes(data.data() + begin, end - begin, bucket_, top_,
                                                    job.payload.data() + header_at(begin),
                                                    out.from(begin), streamed);
          if (!seen.finite) finite = false;
          if (seen.too_wide < end - begin) refuse_unit(job, begin + seen.too_wide);
        });
  }

  void encode_chunks(const EncodeJob& job, const kernels::CodeOutput& out, std::size_t whole,
                     std::atomic<bool>& finite) const {
    for_chunks(job.team, job.tensor.data.size(), whole == 0 ? kernels::kLevelChunk : whole,
               [&](const LevelChunk& chunk) {
                 ChunkCodes levels(out, chunk, bucket_, rounding_);
                 chunk.for_buckets(bucket_, [&](std::size_t begin, std::size_t count) {
                   const LevelGrid grid =
                       whole == 0 ? level_grid_of_ends(job, begin)
                                  : write_header(job, begin, ends_of(job, begin, finite));
                   kernels::level_codes(job.tensor.data.data() + begin, count, grid, rounding_,
                                        job.draws, begin, levels.at(begin));
                 });
                 levels.finish();
               });
  }

  std::size_t header_at(std::size_t begin) const { return begin / bucket_ * kHeaderBytes; }

  void write_ends(const EncodeJob& job, std::atomic<bool>& finite) const {
    const auto write = [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += bucket_) {
        const Ends ends = ends_of(job, begin, finite);
        store_field(job.payload, header_at(begin), ends.smallest);
        store_field(job.payload, header_at(begin) + 4, ends.largest);
      }
    };
    for_ranges(job.team, job.tensor.data.size(), bucket_, kRangeElements, write);
  }

  Ends stored_ends(const EncodeJob& job, std::size_t begin) const {
    return {load_field<float>(job.payload, header_at(begin)),
            load_field<float>(job.payload, header_at(begin) + 4)};
  }

  LevelGrid level_grid_of_ends(const EncodeJob& job, std::size_t begin) const {
    const Ends ends = stored_ends(job, begin);
    return level_grid(ends.smallest, ends.largest, top_);
  }

  [[noreturn]] static void refuse_unit(const EncodeJob& job, std::size_t begin) {
    refuse_tensor(kName, job.tensor.name,
                  "the distance of two levels in the bucket of element " + std::to_string(begin) +
                      " is beyond the largest binary32 number");
  }

  LevelGrid write_header(const EncodeJob& job, std::size_t begin, Ends ends) const {
    const LevelGrid grid = level_grid(ends.smallest, ends.largest, top_);
    if (std::isinf(grid.unit)) refuse_unit(job, begin);
    store_field(job.payload, header_at(begin), grid.unit);
    store_field(job.payload, header_at(begin) + 4, grid.origin);
    return grid;
  }

  LevelGrid decoder_grid(std::span<const std::byte> payload, std::size_t bucket) const {
    return level_grid_from_unit(load_field<float>(payload, kHeaderBytes * bucket + 4),
                                load_field<float>(payload, kHeaderBytes * bucket), top_);
  }

  void require_headers(std::span<const std::byte> payload, std::size_t n) const {
    for (std::size_t b = 0; b < buckets(n, bucket_); ++b) {
      const auto unit = load_field<float>(payload, kHeaderBytes * b);
      const auto origin = load_field<float>(payload, kHeaderBytes * b + 4);
      if (!std::isfinite(unit) || std::signbit(unit))
        refuse_payload(kName, payload.size(),
                       "byte " + std::to_string(kHeaderBytes * b) +
                           " begins a unit that is not finite and >= 0");
      if (!std::isfinite(origin))
        refuse_payload(kName, payload.size(),
                       "byte " + std::to_string(kHeaderBytes * b + 4) +
                           " begins a minimum that is not finite");
    }
  }

  void decode_into(const DecodeJob& job, Output output, float factor) const {
    const std::size_t n = job.values.size();
    require_size(kName, job.payload, max_encoded_size(n));
    require_headers(job.payload, n);
    const kernels::PackedCodes codes{job.payload.data() + header_bytes(n), bits_};
    for_coded_buckets(job.team, n, bucket_, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::level_values(part, count,
                                              decoder_grid(job.payload, begin / bucket_),
                                              std::numeric_limits<float>::quiet_NaN(), output,
                                              factor, job.values.data() + begin);
                      });
  }

  int bits_;
  std::uint32_t top_;
  std::size_t bucket_;
  LevelRounding rounding_;
};

}  // namespace

CodecRow minmax_row() {
  OptionTable options = {
      bits_option("4", 1, 8, "bits a level"),
      bucket_option("1024", "values that share a unit and a minimum"),
      rounding_option("nearest (the library's default) or stochastic, unbiased")};
  return {{.name = std::string(kName),
           .summary = "evenly spaced levels between the minimum and maximum of each bucket",
           .source = "Markov et al., CGX, arXiv 2111.08617",
           .policy = AggregatePolicy::kRequantize,
           .unbiased = false,
           .options = options},
          [](const OptionValues& values) -> CodecPtr {
            return std::make_shared<MinMaxCodec>(static_cast<int>(values.integer("bits")),
                                                 static_cast<std::size_t>(values.integer("bucket")),
                                                 values.text("rounding") == "stochastic"
                                                     ? LevelRounding::kDrawn
                                                     : LevelRounding::kHalfUp);
          }};
}

}  // namespace gradwire::compressors
