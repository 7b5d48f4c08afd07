#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "base/thread_team.h"
#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/coding/elias.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

constexpr std::string_view kName = "qsgd";
constexpr std::size_t kNormBytes = 4;

struct QsgdOptions {
  std::uint32_t levels;  ///< s
  int bits;              ///< of a code of the fixed format, its sign included
  std::size_t bucket;
  bool max_norm;
};

/// What the formats share: norms, one a bucket.
class QsgdCodec : public Codec {
 public:
  explicit QsgdCodec(const QsgdOptions& options) : options_(options) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

 protected:
  /// The norm of the bucket that begins at `begin`; 0, and `finite` lowered, if a value is not.
  float norm_of(const EncodeJob& job, std::size_t begin, std::atomic<bool>& finite) const {
    const float* values = job.tensor.data.data() + begin;
    const std::size_t n = std::min(options_.bucket, job.tensor.data.size() - begin);
    float norm;
    if (options_.max_norm) {
      norm = float_of(kernels::max_magnitude_bits(values, n));
    } else {
      const double squares = kernels::sum_of_squares(values, n);
      norm = std::isfinite(squares) ? norm_from_squares(squares)
                                    : std::numeric_limits<float>::infinity();
    }
    if (std::isfinite(norm)) return norm;
    finite = false;
    return 0.0f;
  }

  NormGrid grid_of(float norm) const { return norm_grid(norm, options_.levels); }

  static void require_norm(float norm, std::size_t at, std::span<const std::byte> payload) {
    if (std::isfinite(norm) && !std::signbit(norm)) return;
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(at) + " begins a norm that is not finite and >= 0");
  }

  QsgdOptions options_;
};

/// For each bucket `N f32`, all of them first; then all codes sign << (b - 1) | level, b bits, LSB
/// first: 4 ceil(n / B) + ceil(n b / 8) bytes.
class QsgdFixed final : public QsgdCodec {
 public:
  using QsgdCodec::QsgdCodec;
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return norm_bytes(tensor.n) + packed_bytes(tensor.n, options_.bits);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    require_draws(kName, job.tensor, job.draws);
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
    if (!finite) require_finite(kName, job.tensor, kInfinityBits);
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
    require_size(kName, payload, max_encoded_size(n));
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
    refuse_payload(kName, payload.size(),
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

/// For each bucket, one after the other and each from a byte on: `N f32`, then a stream of bits,
/// most significant first, padded with zeros to a byte.
///   dense:  each value: omega(level + 1), and a sign bit if level > 0
///   sparse: omega(number of nonzeros + 1); each nonzero: omega(distance to the one before, the
///           first from position -1), sign bit, omega(level)
class QsgdElias final : public QsgdCodec {
 public:
  QsgdElias(const QsgdOptions& options, bool sparse) : QsgdCodec(options), sparse_(sparse) {}

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t whole = tensor.n / options_.bucket, rest = tensor.n % options_.bucket;
    return whole * largest_bucket(options_.bucket) + (rest > 0 ? largest_bucket(rest) : 0);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    require_draws(kName, job.tensor, job.draws);
    std::atomic<bool> finite{true};
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < n; begin += options_.bucket) {
      const float norm = norm_of(job, begin, finite);
      if (!finite) require_finite(kName, job.tensor, kInfinityBits);
      store_field(job.payload, at, norm);
      BitWriter out(job.payload.subspan(at + kNormBytes));
      sparse_ ? write_sparse(job, begin, grid_of(norm), out)
              : write_dense(job, begin, grid_of(norm), out);
      at += kNormBytes + out.finish();
    }
    return job.written = at;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job.payload, job.values.size(),
         [&](std::size_t e, float value) { job.values[e] = value; });
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job.payload, job.values.size(),
         [&](std::size_t e, float value) { job.values[e] += factor * value; });
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    std::vector<PayloadField> fields;
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < tensor.n; begin += options_.bucket) {
      const std::string of = " of bucket " + std::to_string(begin / options_.bucket);
      const std::size_t count = std::min(options_.bucket, tensor.n - begin);
      std::size_t nonzero = 0;
      const std::size_t end = read_bucket(
          payload, at, count, [&](std::size_t, float value) { nonzero += value != 0.0f ? 1 : 0; });
      fields.push_back(float_field(payload, at, "norm" + of));
      fields.push_back({at + kNormBytes, end - at - kNormBytes, "levels" + of,
                        sparse_ ? "Elias omega, sparse" : "Elias omega, dense",
                        std::to_string(nonzero) + " of " + std::to_string(count) + " not 0"});
      at = end;
    }
    require_end(payload, at);
    return fields;
  }

 private:
  std::size_t largest_bucket(std::size_t n) const {
    // Longest where no value is 0: a gap of g costs less than g gaps of 1 with their levels.
    const auto width = [](std::uint64_t k) {
      return static_cast<std::size_t>(elias_code(k).width);
    };
    const std::size_t bits = sparse_ ? width(n + 1) + n * (1 + 1 + width(options_.levels))
                                     : n * (1 + width(options_.levels + 1));
    return kNormBytes + (bits + 7) / 8;
  }

  /// body(levels, count, first element of the bucket's part).
  template <class Body>
  void for_levels(const EncodeJob& job, std::size_t begin, const NormGrid& grid,
                  Body&& body) const {
    constexpr std::size_t kPart = 1024;
    std::int32_t levels[kPart];
    const std::size_t end = std::min(options_.bucket, job.tensor.data.size() - begin) + begin;
    for (std::size_t at = begin; at < end; at += kPart) {
      const std::size_t count = std::min(kPart, end - at);
      kernels::signed_norm_levels(job.tensor.data.data() + at, count, grid, job.draws, at, levels);
      body(std::span<const std::int32_t>(levels, count), at - begin);
    }
  }

  void write_dense(const EncodeJob& job, std::size_t begin, const NormGrid& grid,
                   BitWriter& stream) const {
    BitWriter out = stream;
    for_levels(job, begin, grid, [&](std::span<const std::int32_t> levels, std::size_t) {
      for (const std::int32_t level : levels) {
        const EliasCode code = elias_code(static_cast<std::uint64_t>(std::abs(level)) + 1);
        const int sign_width = level != 0 ? 1 : 0;
        out.put(code.bits << sign_width | (level < 0 ? 1u : 0u), code.width + sign_width);
      }
    });
    stream = out;
  }

  void write_sparse(const EncodeJob& job, std::size_t begin, const NormGrid& grid,
                    BitWriter& stream) const {
    BitWriter out = stream;
    std::uint64_t nonzeros = 0;
    for_levels(job, begin, grid, [&](std::span<const std::int32_t> levels, std::size_t) {
      for (const std::int32_t level : levels) nonzeros += level != 0 ? 1 : 0;
    });
    put(out, elias_code(nonzeros + 1));
    std::uint64_t next = 0;  // the position after the last nonzero
    for_levels(job, begin, grid, [&](std::span<const std::int32_t> levels, std::size_t first) {
      for (std::size_t i = 0; i < levels.size(); ++i) {
        if (levels[i] == 0) continue;
        put(out, elias_code(first + i + 1 - next));
        const EliasCode level = elias_code(static_cast<std::uint64_t>(std::abs(levels[i])));
        const std::uint64_t sign = levels[i] < 0 ? 1 : 0;
        out.put(sign << level.width | level.bits, level.width + 1);
        next = first + i + 1;
      }
    });
    stream = out;
  }

  static void put(BitWriter& out, const EliasCode& code) { out.put(code.bits, code.width); }

  /// store(element, value) for every element.
  template <class Store>
  void read(std::span<const std::byte> payload, std::size_t n, Store&& store) const {
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < n; begin += options_.bucket)
      at = read_bucket(payload, at, std::min(options_.bucket, n - begin),
                       [&](std::size_t i, float value) { store(begin + i, value); });
    require_end(payload, at);
  }

  static void require_end(std::span<const std::byte> payload, std::size_t at) {
    if (at != payload.size())
      refuse_payload(kName, payload.size(),
                     "the last bucket ends before byte " + std::to_string(at));
  }

  /// Returns where the bucket that begins at byte `at` ends.
  template <class Store>
  std::size_t read_bucket(std::span<const std::byte> payload, std::size_t at, std::size_t n,
                          Store&& store) const {
    if (payload.size() - at < kNormBytes)
      refuse_payload(kName, payload.size(),
                     "it ends within the norm at byte " + std::to_string(at));
    const auto norm = load_field<float>(payload, at);
    require_norm(norm, at, payload);
    BitReader in(payload.subspan(at + kNormBytes));
    const NormGrid grid = grid_of(norm);
    const bool good = sparse_ ? read_sparse(in, n, grid, store) : read_dense(in, n, grid, store);
    const std::uint64_t bits = in.bit_position();
    const std::size_t byte = at + kNormBytes + static_cast<std::size_t>(bits / 8);
    if (in.overrun())
      refuse_payload(kName, payload.size(),
                     "it ends within the bucket that begins at byte " + std::to_string(at));
    if (!good)
      refuse_payload(kName, payload.size(),
                     "byte " + std::to_string(byte) +
                         " ends a code of a level, a distance or a count that is too large");
    return at + kNormBytes + static_cast<std::size_t>((bits + 7) / 8);
  }

  template <class Store>
  bool read_dense(BitReader& stream, std::size_t n, const NormGrid& grid, Store&& store) const {
    BitReader in = stream;
    bool good = true;
    for (std::size_t i = 0; i < n && good; ++i) {
      in.refill();
      const std::uint64_t level = take_elias(in) - 1;
      good = level <= options_.levels;  // 0 - 1 is beyond, too
      if (!good) break;
      const bool negative = level != 0 && in.take(1) != 0;
      store(i, norm_level_value(static_cast<std::uint32_t>(level), negative, grid));
      good = (i & 63) != 63 || !in.overrun();
    }
    stream = in;
    return good;
  }

  template <class Store>
  bool read_sparse(BitReader& stream, std::size_t n, const NormGrid& grid, Store&& store) const {
    BitReader in = stream;
    in.refill();
    const std::uint64_t nonzeros = take_elias(in) - 1;
    bool good = nonzeros <= n;
    std::size_t next = 0;
    for (std::uint64_t k = 0; good && k < nonzeros; ++k) {
      in.refill();
      const std::uint64_t gap = take_elias(in) - 1;
      in.refill();
      const bool negative = in.take(1) != 0;
      const std::uint64_t level = take_elias(in);
      good = gap < n - next && level - 1 < options_.levels && !in.overrun();
      if (!good) break;
      for (const std::size_t end = next + static_cast<std::size_t>(gap); next < end; ++next)
        store(next, 0.0f);
      store(next++, norm_level_value(static_cast<std::uint32_t>(level), negative, grid));
    }
    stream = in;
    for (; good && next < n; ++next) store(next, 0.0f);
    return good;
  }

  bool sparse_;
};

QsgdOptions qsgd_options(const OptionValues& values) {
  const auto bits = static_cast<int>(values.integer("bits"));
  const auto given = static_cast<std::uint32_t>(values.integer("levels"));
  const bool fixed = values.text("format") == "fixed";
  if (fixed && given > 127)
    throw Error(ErrorKind::kUsage, "make codec", "qsgd",
                "the fixed format holds at most 127 levels", "use format dense or sparse");
  const std::uint32_t levels = given > 0 ? given : (1u << (bits - 1)) - 1;
  return {.levels = levels,
          .bits = 1 + static_cast<int>(std::bit_width(levels)),
          .bucket = static_cast<std::size_t>(values.integer("bucket")),
          .max_norm = values.text("norm") == "max"};
}

OptionTable qsgd_table() {
  OptionSpec levels = bucket_option(
      "0", "s, the levels above 0; 0 = 2^(bits - 1) - 1. The theory's sparse case is sqrt(n)");
  levels.name = "levels";
  levels.min = 0;
  levels.max = kMostNormLevels;
  const OptionSpec norm = {.name = "norm",
                           .type = OptionType::kChoice,
                           .default_text = "max",
                           .help = "largest magnitude (the paper's practical variant) or 2-norm",
                           .choices = {"max", "2"}};
  const OptionSpec format = {
      .name = "format",
      .type = OptionType::kChoice,
      .default_text = "fixed",
      .help = "codes of fixed width, or Elias omega codes of all levels or of the nonzeros",
      .choices = {"fixed", "dense", "sparse"}};
  return {
      bits_option("4", 2, 8, "bits a code with its sign; sets the levels unless they are given"),
      levels, bucket_option("512", "values that share a norm"), norm, format};
}

}  // namespace

CodecRow qsgd_row() {
  return {{.name = std::string(kName),
           .summary = "levels of each bucket's norm, rounded at random without bias",
           .source = "Alistarh et al., QSGD, arXiv 1610.02132",
           .policy = AggregatePolicy::kGather,
           .unbiased = true,
           .options = qsgd_table()},
          [](const OptionValues& values) -> CodecPtr {
            const QsgdOptions options = qsgd_options(values);
            const std::string& format = values.text("format");
            if (format == "fixed") return std::make_shared<QsgdFixed>(options);
            return std::make_shared<QsgdElias>(options, format == "sparse");
          }};
}

}  // namespace gradwire::compressors
