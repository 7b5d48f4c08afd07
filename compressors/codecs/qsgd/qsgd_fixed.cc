#include <algorithm>
#include <atomic>

#include "compressors/bit_packing.h"
#include "compressors/codecs/qsgd/qsgd.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

/// For each bucket `N f32`, all of them first; then all codes sign << (b - 1) | level, b bits, LSB
/// first: 4 ceil(n / B) + ceil(n b / 8) bytes.
class QsgdFixed final : public QsgdCodec {
 public:
  using QsgdCodec::QsgdCodec;
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return norm_bytes(tensor.n) + packed_bytes(tensor.n, options_.bits);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const override {
    return PackedElements{norm_bytes(tensor.n), options_.bits, options_.bucket};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    require_draws(kQsgd, job.tensor, job.draws);
    std::atomic<bool> finite{true};
    const std::size_t whole = whole_bucket_chunk(options_.bucket);
    if (whole == 0) write_norms(job, finite);
    std::byte* packed = job.payload.data() + norm_bytes(n);
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
                 kernels::pack_codes(codes, chunk.count, options_.bits, BitOrder::kLowFirst,
                                     packed + packed_bytes(chunk.begin, options_.bits));
               });
    if (!finite) require_finite(kQsgd, job.tensor, kInfinityBits);
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
    require_norms(payload, tensor.n);
    std::vector<PayloadField> fields;
    for (std::size_t b = 0; b < buckets(tensor.n, options_.bucket); ++b)
      fields.push_back(float_field(payload, kNormBytes * b, "norm of bucket " + std::to_string(b)));
    const std::size_t begin = norm_bytes(tensor.n);
    fields.push_back(code_field(payload.subspan(begin), begin, tensor.n, options_.bits,
                                BitOrder::kLowFirst, "sign and level"));
    return fields;
  }

 private:
  std::size_t norm_bytes(std::size_t n) const { return kNormBytes * buckets(n, options_.bucket); }
  std::size_t norm_at(std::size_t begin) const { return begin / options_.bucket * kNormBytes; }

  /// Codes of the buckets of `grids`, or of a part of one of them.
  void write_codes(const EncodeJob& job, std::size_t begin, std::size_t count,
                   const NormGrid* grids, std::uint8_t* codes) const {
    kernels::norm_codes(job.tensor.data.data() + begin, count, grids, options_.bucket,
                        options_.bits, job.draws, begin, codes);
  }

  void write_norms(const EncodeJob& job, std::atomic<bool>& finite) const {
    for_ranges(job.team, job.tensor.data.size(), options_.bucket, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 for (; begin < end; begin += options_.bucket)
                   store_field(job.payload, norm_at(begin), norm_of(job, begin, finite));
               });
  }

  void require_norms(std::span<const std::byte> payload, std::size_t n) const {
    require_size(kQsgd, payload, max_encoded_size(n));
    for (std::size_t at = 0; at < norm_bytes(n); at += kNormBytes)
      require_norm(load_field<float>(payload, at), at, payload);
  }

  /// Refuses levels beyond s, which b bits may hold if s is given.
  void require_levels(std::span<const std::byte> payload, std::size_t n) const {
    const std::uint32_t mask = (1u << (options_.bits - 1)) - 1;
    if (mask == options_.levels) return;
    const std::byte* packed = payload.data() + norm_bytes(n);
    for (std::size_t begin = 0; begin < n; begin += kernels::kLevelChunk) {
      std::uint8_t codes[kernels::kLevelChunk];
      const std::size_t count = std::min(kernels::kLevelChunk, n - begin);
      kernels::unpack_codes(packed + packed_bytes(begin, options_.bits), count, options_.bits,
                            BitOrder::kLowFirst, codes);
      const auto bad = std::find_if(
          codes, codes + count, [&](std::uint8_t code) { return (code & mask) > options_.levels; });
      if (bad != codes + count)
        refuse_level(payload, n, begin + static_cast<std::size_t>(bad - codes), *bad & mask);
    }
  }
  [[noreturn]] void refuse_level(std::span<const std::byte> payload, std::size_t n, std::size_t e,
                                 std::uint32_t level) const {
    const std::size_t byte = norm_bytes(n) + e * static_cast<std::size_t>(options_.bits) / 8;
    refuse_payload(kQsgd, payload.size(),
                   "byte " + std::to_string(byte) + " holds level " + std::to_string(level) +
                       ", beyond " + std::to_string(options_.levels));
  }

  void decode_into(const DecodeJob& job, Output output, float factor) const {
    const std::size_t n = job.values.size();
    require_norms(job.payload, n);
    require_levels(job.payload, n);
    const kernels::PackedCodes codes{job.payload.data() + norm_bytes(n), options_.bits};
    for_coded_buckets(job.team, n, options_.bucket, codes,
                      [&](std::size_t begin, std::size_t count, const kernels::PackedCodes& part) {
                        kernels::norm_values(
                            part, count, grid_of(load_field<float>(job.payload, norm_at(begin))),
                            options_.bits, output, factor, job.values.data() + begin);
                      });
  }
};

}  // namespace

CodecPtr make_qsgd_fixed(const QsgdOptions& options) {
  return std::make_shared<QsgdFixed>(options);
}

}  // namespace gradwire::compressors
