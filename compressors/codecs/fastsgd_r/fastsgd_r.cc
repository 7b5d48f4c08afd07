#include <bit>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/fastsgd_r/arithmetic.h"
#include "compressors/codecs/fastsgd_r/layout.h"
#include "compressors/codecs/fastsgd_r/level_codes.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/coding/bit_stream.h"
#include "compressors/coding/index_walk.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/select.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "fastsgd_r";
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kSlack = kernels::kSelectSlack;

struct FastSgdOptions {
  double base;
  int tau;
  bool own_scale;  ///< M = max|g|, or else 1
  LogRounding rounding;
  IndexFormat keys;
};

/// The most bits of delta keys and values of n elements: a block of 64 keys whose width is w covers
/// at least 64 + 2^(w-1) elements, so its bits an element are at most those of the dearest w.
std::uint64_t most_delta_bits(std::uint64_t n, std::uint64_t value_bits) {
  std::uint64_t most = 0;
  for (std::uint64_t w = 0; w < 32; ++w) {
    const std::uint64_t bits = kDeltaWidthBits + kDeltaBlock * (w + value_bits);
    const std::uint64_t elements = kDeltaBlock + (w == 0 ? 0 : std::uint64_t{1} << (w - 1));
    most = std::max(most, (n * bits + elements - 1) / elements);
    if (w >= 2 && n * bits <= elements) break;  // from here on, elements grow faster
  }
  return most + kDeltaWidthBits;
}

/// The most bytes of k <= n keys in another format, whatever k.
std::size_t most_key_bytes(IndexFormat format, std::size_t n) {
  switch (format) {
    case IndexFormat::kGolomb:  // at most 1.08 bits an element, at k / n = 0.38
    case IndexFormat::kGolombStored:
      return 1 + n / 8 + n / 64 + 8;
    case IndexFormat::kAuto:
    case IndexFormat::kBitmap:
      return (n + 7) / 8;
    case IndexFormat::kRuns16:
      return 2 * (n + n / 65535);
    default:
      return max_index_bytes(format, n, n);
  }
}

/// Keys in blocks {5-bit width, gaps}; values, each a sign and ceil(log2(tau + 1)) bits of q.
class FastSgdCodec final : public WalkedCodec<FastSgdCodec> {
 public:
  explicit FastSgdCodec(FastSgdOptions options)
      : options_(options),
        powers_(static_cast<std::size_t>(options.tau) + 1),
        least_factor_(log_least_factor(options.base, options.rounding)),
        head_(delta()) {
    log_powers(options.base, powers_);
  }
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const auto value = static_cast<std::uint64_t>(value_bits());
    if (delta()) return FastSgdLayout(bytes_of(most_delta_bits(tensor.n, value)), {}).size({});
    if (tensor.n > largest()) return head_.size({});  // encode refuses it
    return FastSgdLayout(most_key_bytes(options_.keys, tensor.n), {}, bytes_of(tensor.n * value))
        .size({});
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    if (byte_codes()) return padded_to_8(tensor.n);
    return padded_to_8(8 * (tensor.n + kSlack));
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    refuse_beyond(kName, job.tensor, largest());
    const std::span<const float> data = job.tensor.data;
    const std::uint32_t largest_bits = kernels::max_magnitude_bits(data.data(), data.size());
    require_finite(kName, job.tensor, largest_bits);
    const float scale = options_.own_scale ? float_of(largest_bits) : 1.0f;
    std::uint32_t least[kMostLogLevels];
    const std::size_t levels = powers_.size();
    for (std::size_t q = 0; q < levels; ++q)
      least[q] = log_least(double{scale}, powers_[q], least_factor_);
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
    head_.store<FastSgdLayout::kScale>(job.payload, scale);
    if (byte_codes()) return write_codes(job, {least, levels}, scratch);
    return write(job, filter(data, least[levels - 1], scratch), {least, levels});
  }

  auto open(const DecodeJob& job, std::span<std::byte>) const {
    return parts_of(job.payload, job.values.size());
  }
  template <class Opened, class Visit>
  void walk(const DecodeJob& job, const Opened& parts, Visit&& visit) const {
    float values[kMostLogLevels];
    for (std::size_t q = 0; q < powers_.size(); ++q)
      values[q] = log_value(double{parts.scale}, powers_[q]);
    BitReader codes(job.payload, parts.value_bit);
    const int width = value_bits() - 1;
    const auto entry = [&](std::size_t, std::uint32_t index) {
      codes.refill();
      const bool negative = codes.take(1) != 0;
      const std::uint64_t q = codes.take(width);
      if (q >= powers_.size()) refuse_level(job.payload, codes.bit_position());
      visit(index, negative ? -values[q] : values[q]);
    };
    if (byte_codes()) {
      level_codes().walk(parts.section, codes, values, entry, visit);
    } else if (delta()) {
      BitReader keys(parts.section.bytes());
      index_detail::walk_delta_gaps(parts.section, keys, entry);
    } else if (walk_indices(parts.format, parts.section, entry) != parts.value_bit / 8) {
      refuse_payload(kName, job.payload.size(), "its keys do not end where its values begin");
    }
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    const Parts parts = parts_of(payload, tensor.n);
    const std::size_t k = parts.section.k, keys = parts.section.offset;
    const std::size_t values = parts.value_bit / 8;
    const FastSgdLayout layout =
        delta() ? FastSgdLayout(payload.size() - keys, {k, parts.value_bit})
                : FastSgdLayout(values - keys, {parts.format, k}, payload.size() - values);
    return described(payload, layout, extent_of(tensor));
  }

 private:
  struct Parts {
    float scale;
    IndexFormat format;
    IndexSection section;
    std::uint64_t value_bit;  ///< of the payload: where the values begin
  };

  bool delta() const { return options_.keys == IndexFormat::kDelta; }
  std::size_t largest() const {
    return std::min<std::size_t>(0xFFFFFFFFu, largest_indexed(options_.keys));
  }
  int value_bits() const { return 1 + static_cast<int>(std::bit_width(powers_.size() - 1)); }
  static std::size_t bytes_of(std::uint64_t bits) {
    return static_cast<std::size_t>((bits + 7) / 8);
  }

  /// The entries of at least the last level's least magnitude.
  static Selected filter(std::span<const float> data, std::uint32_t least,
                         std::span<std::byte> scratch) {
    const auto words = view_as<std::uint32_t>(scratch, 2 * (data.size() + kSlack));
    const auto indices = words.first(data.size() + kSlack);
    float* values = reinterpret_cast<float*>(words.data() + indices.size());
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < data.size(); begin += kBlock)
      kept += kernels::scan_large(data.data() + begin, std::min(kBlock, data.size() - begin),
                                  static_cast<std::uint32_t>(begin), least, indices.data() + kept,
                                  values + kept)
                  .count;
    return {.indices = indices.first(kept), .values = {values, kept}};
  }

  bool byte_codes() const { return delta() && LevelCodes::can(powers_.size(), value_bits()); }

  LevelCodes level_codes() const { return {powers_.size(), value_bits()}; }
  std::size_t write_codes(EncodeJob& job, std::span<const std::uint32_t> least,
                          std::span<std::byte> scratch) const {
    const LevelCodes::Written written =
        level_codes().encode(job.tensor.data, least, scratch, job.payload.subspan(head_.size({})));
    head_.store<FastSgdLayout::kKept>(job.payload, written.kept);
    return job.written = FastSgdLayout(written.bytes, {}).size({});
  }

  std::size_t write(EncodeJob& job, const Selected& kept,
                    std::span<const std::uint32_t> least) const {
    head_.store<FastSgdLayout::kKept>(job.payload, kept.indices.size());
    const std::size_t n = job.tensor.data.size();
    std::size_t at = head_.size({});
    if (!delta()) {
      const IndexFormat format = resolve_index_format(options_.keys, kept.indices, n);
      head_.store<FastSgdLayout::kFormat>(job.payload, format);
      at += encode_indices(format, kept.indices, n, job.payload.subspan(at));
    }
    BitWriter out(job.payload.subspan(at));
    if (delta()) write_delta_gaps(out, kept.indices);
    const int width = value_bits() - 1;
    for (const float value : kept.values) {
      const std::uint64_t q =
          log_level(magnitude_bits(value), least.data(), static_cast<std::uint32_t>(least.size()));
      out.put((std::signbit(value) ? std::uint64_t{1} << width : 0) | q, value_bits());
    }
    return job.written = at + out.finish();
  }

  Parts parts_of(std::span<const std::byte> payload, std::size_t n) const {
    const std::size_t header = head_.size({});
    require_head(kName, payload, head_, {.n = n});
    if (n > largest()) refuse_payload(kName, payload.size(), "the tensor is beyond its keys");
    const std::size_t k = head_.load<FastSgdLayout::kKept>(payload.data());
    const float scale = head_.load<FastSgdLayout::kScale>(payload.data());
    const std::uint64_t codes = std::uint64_t{k} * static_cast<std::uint64_t>(value_bits());
    IndexSection section{kName, payload, header, n, k};
    if (delta()) {
      const std::uint64_t begin = 8 * header + key_bits(section);
      require_size(kName, payload, bytes_of(begin + codes));
      return {scale, IndexFormat::kDelta, section, begin};
    }
    const auto format =
        static_cast<IndexFormat>(head_.load<FastSgdLayout::kFormat>(payload.data()));
    const std::size_t least = FastSgdLayout(0, {format, k}, bytes_of(codes)).size({});
    require_header(kName, payload, least);
    const std::size_t begin = header + payload.size() - least;
    section.payload = payload.first(begin);
    return {scale, format, section, 8 * std::uint64_t{begin}};
  }

  /// How long the blocks of keys are, by their widths alone.
  static std::uint64_t key_bits(const IndexSection& section) {
    std::uint64_t bit = 0;
    for (std::size_t first = 0; first < section.k; first += kDeltaBlock) {
      const std::size_t keys = std::min(kDeltaBlock, section.k - first);
      BitReader in(section.bytes(), bit);
      bit += kDeltaWidthBits + in.take(kDeltaWidthBits) * keys;
      if (bit > 8 * std::uint64_t{section.bytes().size()})
        index_detail::refuse_short(section, first);
    }
    return bit;
  }

  [[noreturn]] void refuse_level(std::span<const std::byte> payload, std::uint64_t end) const {
    const auto bit = end - static_cast<std::uint64_t>(value_bits());
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(bit / 8) + " begins a level above " +
                       std::to_string(options_.tau));
  }

  FastSgdOptions options_;
  std::vector<double> powers_;
  double least_factor_;
  FastSgdLayout head_;
};

OptionTable fastsgd_options() {
  return {{.name = "base",
           .type = OptionType::kNumber,
           .default_text = "2",
           .help = "base b of the levels M b^-q",
           .min = 1.001,
           .max = 1024},
          {.name = "tau",
           .type = OptionType::kInteger,
           .default_text = "15",
           .help = "largest level q that is kept: magnitudes below M b^-(tau + 1/2) are dropped",
           .min = 0,
           .max = kMostLogLevels - 1},
          {.name = "scale",
           .type = OptionType::kChoice,
           .default_text = "max",
           .help = "M: the largest magnitude of the tensor, or 1, where larger values become 1",
           .choices = {"max", "one"}},
          {.name = "rounding",
           .type = OptionType::kChoice,
           .default_text = "log",
           .help = "to the nearest level by logarithm, or by value",
           .choices = {"log", "linear"}},
          {.name = "keys",
           .type = OptionType::kChoice,
           .default_text = "delta",
           .help = "how indices are written; auto takes the fewest bytes",
           .choices = index_format_names()}};
}

}  // namespace

CodecRow fastsgd_r_row() {
  return {{.name = std::string(kName),
           .summary = "nonzeros above a threshold as powers of a base; delta keys",
           .source = "after FastSGD, arXiv 2112.04291 (a reconstruction)",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = fastsgd_options(),
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<FastSgdCodec>(FastSgdOptions{
                options.number("base"), static_cast<int>(options.integer("tau")),
                options.text("scale") == "max",
                options.text("rounding") == "log" ? LogRounding::kLog : LogRounding::kLinear,
                index_format_named(options.text("keys"))});
          }};
}

}  // namespace gradwire::compressors
