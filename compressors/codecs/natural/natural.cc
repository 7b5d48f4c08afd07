#include <algorithm>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/natural/kernel.h"
#include "compressors/codecs/natural/layout.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "natural";

class NaturalCodec final : public LaidOutCodec<NaturalCodec, NaturalLayout> {
 public:
  /// `lowest`: the exponent field of 8-bit code 1; ignored with 9 bits.
  NaturalCodec(int bits, std::uint32_t lowest)
      : LaidOutCodec(NaturalLayout(bits)), bits_(bits), lowest_(lowest) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    const std::size_t size = begin_encoding(job);
    require_draws(kName, job.tensor, job.draws);
    const std::uint32_t largest =
        largest_over_ranges(job.team, n, kRangeMultiple, [&](std::size_t begin, std::size_t end) {
          const float* values = job.tensor.data.data() + begin;
          std::byte* codes = job.payload.data() + packed_bytes(begin, bits_);
          return bits_ == 9 ? kernels::natural_codes9(values, end - begin, job.draws, begin, codes)
                            : kernels::natural_codes8(values, end - begin, job.draws, begin,
                                                      lowest_, codes);
        });
    require_finite(kName, job.tensor, largest);
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    for_ranges(
        job.team, job.values.size(), kRangeMultiple, kRangeElements,
        [&](std::size_t begin, std::size_t end) {
          const std::byte* codes = job.payload.data() + packed_bytes(begin, bits_);
          float* values = job.values.data() + begin;
          if (bits_ == 8)
            kernels::natural_values8(codes, end - begin, lowest_, output, factor, values);
          else if (kernels::natural_values9(codes, end - begin, output, factor, values) == 255)
            layout().section<NaturalLayout::kCodes>().refuse_code(kName, job.payload, 0);
        });
  }

  void show(const std::vector<float>& decoded, std::vector<PayloadField>& fields) const {
    fields[NaturalLayout::kCodes].value =
        first_few(decoded.size(), [&](std::size_t i) { return float_text(decoded[i]); });
  }

 private:
  int bits_;
  std::uint32_t lowest_;
};

}  // namespace

CodecRow natural_row() {
  const OptionSpec bits = {
      .name = "bits",
      .type = OptionType::kChoice,
      .default_text = "9",
      .help =
          "9: sign and exponent field of binary32, unbiased from 2^-126 on; 8: sign and 7 bits "
          "for 127 exponents, the paper's practical form, biased outside their range",
      .choices = {"9", "8"}};
  const OptionSpec lowest = {
      .name = "lowest",
      .type = OptionType::kInteger,
      .default_text = "-109",
      .help =
          "with 8 bits: the lowest exponent e that has a code; magnitudes 2^e .. 2^(e + 126) "
          "(default as in GRACE: 2^-109 .. 2^17), smaller ones become 0, larger ones the largest",
      .min = -126,
      .max = 1};
  return {{.name = std::string(kName),
           .summary = "natural compression: magnitudes rounded at random to a power of two next "
                      "to them",
           .source = "Horvath et al., arXiv 1905.10988",
           .policy = AggregatePolicy::kRequantize,
           .unbiased = true,
           .options = {bits, lowest}},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<NaturalCodec>(
                options.text("bits") == "9" ? 9 : 8,
                static_cast<std::uint32_t>(options.integer("lowest") + 127));
          }};
}

}  // namespace gradwire::compressors
