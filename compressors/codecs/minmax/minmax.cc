#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/codecs/minmax/kernel.h"
#include "compressors/codecs/minmax/layout.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "minmax";
class MinMaxCodec final : public LaidOutCodec<MinMaxCodec, MinMaxLayout> {
 public:
  MinMaxCodec(int bits, std::size_t bucket, LevelRounding rounding)
      : LaidOutCodec(MinMaxLayout(bits, bucket)),
        bits_(bits),
        top_(layout().top()),
        bucket_(bucket),
        rounding_(rounding) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = begin_encoding(job);
    if (rounding_ == LevelRounding::kDrawn) require_draws(kName, job.tensor, job.draws);
    const auto codes = job.payload.first(size).subspan(at<MinMaxLayout::kCodes>(n));
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
    const auto padding = job.payload.first(size).subspan(at<MinMaxLayout::kPadding>(n));
    std::fill(padding.begin(), padding.end(), std::byte{0});
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const std::size_t n = job.values.size();
    const kernels::PackedCodes codes{job.payload.data() + at<MinMaxLayout::kCodes>(n), bits_};
    for_coded_buckets(job.team, n, bucket_, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::level_values(part, count,
                                              decoder_grid(job.payload.data(), begin / bucket_),
                                              std::numeric_limits<float>::quiet_NaN(), output,
                                              factor, job.values.data() + begin);
                      });
  }

 private:
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
    const bool streamed = kernels::is_streamed(max_encoded_size(job.tensor));
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

  template <MinMaxLayout::HeaderField kField = MinMaxLayout::kUnit>
  std::size_t header_at(std::size_t begin) const {
    return static_cast<std::size_t>(
        layout().section<MinMaxLayout::kHeaders>().at<kField>(begin / bucket_));
  }

  void write_ends(const EncodeJob& job, std::atomic<bool>& finite) const {
    const auto write = [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += bucket_) {
        const Ends ends = ends_of(job, begin, finite);
        store_field(job.payload, header_at(begin), ends.smallest);
        store_field(job.payload, header_at<MinMaxLayout::kMin>(begin), ends.largest);
      }
    };
    for_ranges(job.team, job.tensor.data.size(), bucket_, kRangeElements, write);
  }

  Ends stored_ends(const EncodeJob& job, std::size_t begin) const {
    return {load_field<float>(job.payload, header_at(begin)),
            load_field<float>(job.payload, header_at<MinMaxLayout::kMin>(begin))};
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
    store_field(job.payload, header_at<MinMaxLayout::kMin>(begin), grid.origin);
    return grid;
  }

  LevelGrid decoder_grid(const std::byte* payload, std::size_t bucket) const {
    const auto& headers = layout().section<MinMaxLayout::kHeaders>();
    return level_grid_from_unit(number_at<float>(payload + headers.at<MinMaxLayout::kMin>(bucket)),
                                number_at<float>(payload + headers.at<MinMaxLayout::kUnit>(bucket)),
                                top_);
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
