#include <algorithm>
#include <cfloat>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/dither/kernel.h"
#include "compressors/codecs/dither/layout.h"
#include "compressors/codecs/laid_out_codec.h"
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

class DitherCodec final : public LaidOutCodec<DitherCodec, DitherLayout> {
 public:
  explicit DitherCodec(const DitherOptions& options)
      : LaidOutCodec(DitherLayout(options.levels, options.natural_norm)), options_(options) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const int bits = layout().bits();
    require_draws(kName, job.tensor, job.draws);
    const float norm = norm_of(job);
    write_norm(job, norm);
    const DitherRule rule = dither_rule(norm, options_.levels);
    const auto codes_out = job.payload.subspan(at<DitherLayout::kCodes>(data.size()));
    for_ranges(job.team, data.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 std::uint8_t codes[kChunk];
                 for (std::size_t at = begin; at < end; at += kChunk) {
                   const std::size_t count = std::min(kChunk, end - at);
                   kernels::dither_codes(data.data() + at, count, job.draws, at, rule, bits, codes);
                   kernels::pack_codes(codes, count, bits, kernels::BitOrder::kLowFirst,
                                       codes_out.data() + packed_bytes(at, bits));
                 }
               });
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const auto& codes = layout().section<DitherLayout::kCodes>();
    const float norm = layout().section<DitherLayout::kNorm>().value(job.payload.data());
    const std::size_t codes_at = at<DitherLayout::kCodes>(job.values.size());
    const PackedCodes all{job.payload.data() + codes_at, codes.bits};
    for_ranges(job.team, job.values.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 const std::uint32_t largest =
                     kernels::dither_values(all.from(begin), end - begin, norm, options_.levels,
                                            output, factor, job.values.data() + begin);
                 if (largest > static_cast<std::uint32_t>(options_.levels))
                   codes.refuse_code(kName, job.payload, codes_at);
               });
  }

  void show(const std::vector<float>& decoded, std::vector<PayloadField>& fields) const {
    fields[DitherLayout::kCodes].value =
        first_few(decoded.size(), [&](std::size_t i) { return float_text(decoded[i]); });
  }

 private:
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
