#include <algorithm>
#include <atomic>

#include "compressors/bit_packing.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/qsgd/qsgd.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

class QsgdFixed final : public LaidOutCodec<QsgdFixed, QsgdLayout>, private QsgdNorms {
 public:
  explicit QsgdFixed(const QsgdOptions& options)
      : LaidOutCodec(QsgdLayout(options.levels, options.bucket)),
        QsgdNorms(options),
        bits_(layout().bits()) {}
  std::string_view name() const override { return kQsgd; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = begin_encoding(job);
    require_draws(kQsgd, job.tensor, job.draws);
    std::atomic<bool> finite{true};
    const std::size_t whole = whole_bucket_chunk(options_.bucket);
    if (whole == 0) write_norms(job, finite);
    std::byte* packed = job.payload.data() + at<QsgdLayout::kCodes>(n);
    const bool together = whole != 0 && options_.bucket % 64 == 0;
    for_chunks(job.team, n, whole == 0 ? kernels::kLevelChunk : whole,
               [&](const LevelChunk& chunk) {
                 std::uint8_t codes[kernels::kLevelChunk];
                 NormGrid grids[kernels::kLevelChunk / 64], *grid = grids;
                 chunk.for_buckets(options_.bucket, [&](std::size_t begin, std::size_t count) {
                   if (whole != 0)
                     store_field(job.payload, norm_at(begin), norm_of(job, begin, finite));
                   *grid = grid_of(load_field<float>(job.payload, norm_at(begin)));
                   if (together)
                     ++grid;
                   else
                     write_codes(job, begin, count, grid, codes + (begin - chunk.begin));
                 });
                 if (together) write_codes(job, chunk.begin, chunk.count, grids, codes);
                 kernels::pack_codes(codes, chunk.count, bits_, BitOrder::kLowFirst,
                                     packed + packed_bytes(chunk.begin, bits_));
               });
    if (!finite) require_finite(kQsgd, job.tensor, kInfinityBits);
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const std::size_t n = job.values.size(), codes_at = at<QsgdLayout::kCodes>(n);
    require_levels(job.payload, codes_at, n);
    const kernels::PackedCodes codes{job.payload.data() + codes_at, bits_};
    for_coded_buckets(job.team, n, options_.bucket, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::norm_values(
                            part, count, grid_of(load_field<float>(job.payload, norm_at(begin))),
                            bits_, output, factor, job.values.data() + begin);
                      });
  }

 private:
  std::size_t norm_at(std::size_t begin) const {
    const auto& norms = layout().section<QsgdLayout::kNorms>();
    return static_cast<std::size_t>(norms.at<0>(begin / options_.bucket));
  }

  /// Codes of the buckets of `grids`, or of a part of one of them.
  void write_codes(const EncodeJob& job, std::size_t begin, std::size_t count,
                   const NormGrid* grids, std::uint8_t* codes) const {
    kernels::norm_codes(job.tensor.data.data() + begin, count, grids, options_.bucket, bits_,
                        job.draws, begin, codes);
  }

  void write_norms(const EncodeJob& job, std::atomic<bool>& finite) const {
    for_ranges(job.team, job.tensor.data.size(), options_.bucket, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 for (; begin < end; begin += options_.bucket)
                   store_field(job.payload, norm_at(begin), norm_of(job, begin, finite));
               });
  }

  /// Refuses levels beyond s, which b bits may hold if s is given.
  void require_levels(std::span<const std::byte> payload, std::size_t codes_at,
                      std::size_t n) const {
    const auto& section = layout().section<QsgdLayout::kCodes>();
    if (section.check.level(~0u) == options_.levels) return;
    const std::byte* packed = payload.data() + codes_at;
    for (std::size_t begin = 0; begin < n; begin += kernels::kLevelChunk) {
      std::uint8_t codes[kernels::kLevelChunk];
      const std::size_t count = std::min(kernels::kLevelChunk, n - begin);
      kernels::unpack_codes(packed + packed_bytes(begin, bits_), count, bits_, BitOrder::kLowFirst,
                            codes);
      if (!std::all_of(codes, codes + count,
                       [&](std::uint8_t code) { return section.check.good(code); }))
        section.refuse_code(kQsgd, payload, codes_at);
    }
  }

  int bits_;
};

}  // namespace

CodecPtr make_qsgd_fixed(const QsgdOptions& options) {
  return std::make_shared<QsgdFixed>(options);
}

}  // namespace gradwire::compressors
