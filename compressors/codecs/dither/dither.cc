#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/dither/kernel.h"
#include "compressors/field_text.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/tensor_moments.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;
using kernels::PackedCodes;

constexpr std::string_view kName = "dither";
constexpr std::size_t kChunk = 4096;  // codes that stay in the first-level cache; divides by 8

struct DitherOptions {
  bool euclidean = true;
  int levels = 8;
  bool natural_norm = false;
};

/// The norm N (f32, or a C_nat code in a u16), then codes of 1 + ceil(log2(s + 1)) bits, LSB first:
/// sign above j, where 0 is zero and j >= 1 is N 2^(j - s).
class DitherCodec final : public Codec {
 public:
  explicit DitherCodec(const DitherOptions& options) : options_(options) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return norm_bytes() + packed_bytes(tensor.n, code_bits());
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    return PackedElements{norm_bytes(), code_bits()};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = max_encoded_size(job.tensor);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    require_draws(kName, job.tensor, job.draws);
    const float norm = norm_of(job);
    write_norm(job, norm);
    const DitherRule rule = dither_rule(norm, options_.levels);
    const auto codes_out = job.payload.subspan(norm_bytes());
    for_ranges(job.team, data.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 std::uint8_t codes[kChunk];
                 for (std::size_t at = begin; at < end; at += kChunk) {
                   const std::size_t count = std::min(kChunk, end - at);
                   kernels::dither_codes(data.data() + at, count, job.draws, at, rule, code_bits(),
                                         codes);
                   kernels::pack_codes(codes, count, code_bits(), kernels::BitOrder::kLowFirst,
                                       codes_out.data() + packed_bytes(at, code_bits()));
                 }
               });
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, kernels::output_of(job.values.size_bytes()), 1.0f);
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, Output::kAdd, factor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    const float norm = checked_norm(payload, tensor);
    std::vector<float> values(tensor.n);
    read({.payload = payload, .values = values}, Output::kStore, 1.0f);
    return {
        {0, norm_bytes(), "norm", options_.natural_norm ? "u16, a C_nat code" : "f32",
         float_text(norm)},
        {norm_bytes(), payload.size() - norm_bytes(), "codes", code_array(code_bits(), tensor.n),
         first_few(tensor.n, [&](std::size_t i) { return float_text(values[i]); })}};
  }

 private:
  int code_bits() const {  // ceil(log2(s + 1)) = bits of s
    return 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(options_.levels)));
  }
  std::size_t norm_bytes() const { return options_.natural_norm ? 2 : 4; }

  /// Refuses values that are not finite. At most the largest finite number: still no element is
  /// larger, which is all that the levels need.
  float norm_of(const EncodeJob& job) const {
    const std::span<const float> data = job.tensor.data;
    if (options_.euclidean) {
      const auto moments = tensor_moments(job.team, data, 0.0);
      require_finite(kName, job.tensor, moments.max_magnitude);
      const double norm = std::sqrt(moments.sum_squares);
      return norm < double{FLT_MAX} ? static_cast<float>(norm) : FLT_MAX;
    }
    const std::uint32_t largest = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest);
    return float_of(largest);
  }

  /// Levels are taken of the norm itself: C_nat's draw is independent of theirs, so that the
  /// product stays unbiased.
  void write_norm(const EncodeJob& job, float norm) const {
    if (!options_.natural_norm) return store_field(job.payload, 0, norm);
    RandomStream stream = job.draws.stream;
    stream.worker ^= kNormWorkerBit;
    const std::uint32_t word = philox_word(stream, job.draws.first_element);
    store_field(job.payload, 0, static_cast<std::uint16_t>(natural_code9(norm, word)));
  }

  float checked_norm(std::span<const std::byte> payload, const TensorSpec& tensor) const {
    require_size(kName, payload, max_encoded_size(tensor));
    if (options_.natural_norm) {
      const auto code = load_field<std::uint16_t>(payload, 0);
      if (code > 254) refuse_payload(kName, payload.size(), "byte 0 begins a norm code above 254");
      return natural_value9(code);
    }
    const float norm = load_field<float>(payload, 0);
    if (!std::isfinite(norm) || std::signbit(norm))
      refuse_payload(kName, payload.size(), "byte 0 begins a norm that is not finite and >= 0");
    return norm;
  }

  void read(const DecodeJob& job, Output output, float factor) const {
    const float norm = checked_norm(job.payload, job.spec());
    const PackedCodes all{job.payload.data() + norm_bytes(), code_bits()};
    for_ranges(job.team, job.values.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 const std::uint32_t largest =
                     kernels::dither_values(all.from(begin), end - begin, norm, options_.levels,
                                            output, factor, job.values.data() + begin);
                 if (largest > static_cast<std::uint32_t>(options_.levels))
                   refuse_level(job.payload, all, begin, end);
               });
  }

  [[noreturn]] void refuse_level(std::span<const std::byte> payload, const PackedCodes& all,
                                 std::size_t begin, std::size_t end) const {
    const unsigned mask = (1u << (code_bits() - 1)) - 1u;
    std::uint8_t codes[8] = {};
    std::size_t i = begin;
    const auto fits = [&] {
      if (i % 8 == 0)
        kernels::unpack_codes(all.from(i).bytes, std::min<std::size_t>(8, end - i), all.bits,
                              all.order, codes);
      return (codes[i % 8] & mask) <= static_cast<unsigned>(options_.levels);
    };
    while (fits()) ++i;
    const std::size_t bit = i * static_cast<std::size_t>(code_bits());
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(norm_bytes() + bit / 8) + " begins a level above " +
                       std::to_string(options_.levels));
  }

  DitherOptions options_;
};

OptionTable options_of_dither() {
  const OptionSpec p = {.name = "p",
                        .type = OptionType::kChoice,
                        .default_text = "2",
                        .help =
                            "the norm that levels are fractions of: Euclidean, or the largest "
                            "magnitude",
                        .choices = {"2", "infinity"}};
  const OptionSpec levels = {
      .name = "levels",
      .type = OptionType::kInteger,
      .default_text = "8",
      .help =
          "s levels beside zero: norm times 2^(1 - s), ..., 1/2, 1; 8 as for VGG11 in the paper",
      .min = 1,
      .max = 63};
  const OptionSpec norm = {.name = "norm",
                           .type = OptionType::kChoice,
                           .default_text = "f32",
                           .help =
                               "the norm is sent as binary32, or rounded by natural "
                               "compression in 2 bytes",
                           .choices = {"f32", "natural"}};
  return {p, levels, norm};
}

}  // namespace

CodecRow dither_row() {
  return {{.name = std::string(kName),
           .summary = "natural dithering: magnitudes rounded at random to norm times a power of "
                      "two, or zero",
           .source = "Horvath et al., arXiv 1905.10988",
           .policy = AggregatePolicy::kRequantize,
           .unbiased = true,
           .options = options_of_dither()},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<DitherCodec>(
                DitherOptions{.euclidean = options.text("p") == "2",
                              .levels = static_cast<int>(options.integer("levels")),
                              .natural_norm = options.text("norm") == "natural"});
          }};
}

}  // namespace gradwire::compressors
