#include <algorithm>
#include <atomic>

#include "compressors/codecs/qsgd/qsgd.h"
#include "compressors/coding/elias.h"

namespace gradwire::compressors {
namespace {

const QsgdOmegaBucket kHead;
const std::size_t kNormBytes = kHead.size({});

/// A stream of bits for each bucket, most significant first, padded with zeros to a byte.
///   dense:  each value: omega(level + 1), and a sign bit if level > 0
///   sparse: omega(number of nonzeros + 1); each nonzero: omega(distance to the one before, the
///           first from position -1), sign bit, omega(level)
class QsgdElias final : public Codec, private QsgdNorms {
 public:
  QsgdElias(const QsgdOptions& options, bool sparse) : QsgdNorms(options), sparse_(sparse) {}
  std::string_view name() const override { return kQsgd; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t whole = tensor.n / options_.bucket, rest = tensor.n % options_.bucket;
    return whole * largest_bucket(options_.bucket) + (rest > 0 ? largest_bucket(rest) : 0);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    require_draws(kQsgd, job.tensor, job.draws);
    std::atomic<bool> finite{true};
    std::size_t at = 0;
    for (std::size_t begin = 0; begin < n; begin += options_.bucket) {
      const float norm = norm_of(job, begin, finite);
      if (!finite) require_finite(kQsgd, job.tensor, kInfinityBits);
      kHead.store<QsgdOmegaBucket::kNorm>(job.payload.subspan(at), norm);
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
      QsgdOmegaBucket(end - at - kNormBytes, {sparse_, nonzero, count})
          .describe({payload, at, extent_of(tensor), of}, fields);
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
    return QsgdOmegaBucket((bits + 7) / 8).size({});
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
      refuse_payload(kQsgd, payload.size(),
                     "the last bucket ends before byte " + std::to_string(at));
  }

  /// Returns where the bucket that begins at byte `at` ends.
  template <class Store>
  std::size_t read_bucket(std::span<const std::byte> payload, std::size_t at, std::size_t n,
                          Store&& store) const {
    if (payload.size() - at < kNormBytes)
      refuse_payload(kQsgd, payload.size(),
                     "it ends within the norm at byte " + std::to_string(at));
    const float norm = checked_number<float>(kQsgd, payload, at, QsgdNorm().check);
    BitReader in(payload.subspan(at + kNormBytes));
    const NormGrid grid = grid_of(norm);
    const bool good = sparse_ ? read_sparse(in, n, grid, store) : read_dense(in, n, grid, store);
    const std::uint64_t bits = in.bit_position();
    const std::size_t byte = at + kNormBytes + static_cast<std::size_t>(bits / 8);
    if (in.overrun())
      refuse_payload(kQsgd, payload.size(),
                     "it ends within the bucket that begins at byte " + std::to_string(at));
    if (!good)
      refuse_payload(kQsgd, payload.size(),
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

}  // namespace

CodecPtr make_qsgd_elias(const QsgdOptions& options, bool sparse) {
  return std::make_shared<QsgdElias>(options, sparse);
}

}  // namespace gradwire::compressors
