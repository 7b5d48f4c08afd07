#include <algorithm>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/natural/kernel.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "natural";

/// Codes of sign and exponent, LSB first: 9 bits an element, ceil(9 n / 8) bytes, or 8 bits, n
/// bytes. See arithmetic/natural.h.
class NaturalCodec final : public Codec {
 public:
  /// `lowest`: the exponent field of 8-bit code 1; ignored with 9 bits.
  NaturalCodec(int bits, std::uint32_t lowest) : bits_(bits), lowest_(lowest) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return packed_bytes(tensor.n, bits_);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    return PackedElements{0, bits_};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    const std::size_t size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
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

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, kernels::output_of(job.values.size_bytes()), 1.0f);
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, Output::kAdd, factor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    std::vector<float> values(tensor.n);
    read({.payload = payload, .values = values}, Output::kStore, 1.0f);
    return {{0, payload.size(), "codes", code_array(bits_, tensor.n),
             first_few(tensor.n, [&](std::size_t i) { return float_text(values[i]); })}};
  }

 private:
  void read(const DecodeJob& job, Output output, float factor) const {
    require_size(kName, job.payload, max_encoded_size(job.spec()));
    for_ranges(
        job.team, job.values.size(), kRangeMultiple, kRangeElements,
        [&](std::size_t begin, std::size_t end) {
          const std::byte* codes = job.payload.data() + packed_bytes(begin, bits_);
          float* values = job.values.data() + begin;
          if (bits_ == 8)
            kernels::natural_values8(codes, end - begin, lowest_, output, factor, values);
          else if (kernels::natural_values9(codes, end - begin, output, factor, values) == 255)
            refuse_infinite(job.payload, job.values.size());
        });
  }

  [[noreturn]] static void refuse_infinite(std::span<const std::byte> payload, std::size_t n) {
    std::size_t i = 0;
    const auto is_infinite = [&] {
      const auto word = load_field<std::uint16_t>(payload, i / 8 * 9 + i % 8);
      return (word >> (i % 8) & 255) == 255;
    };
    while (i < n && !is_infinite()) ++i;
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(i / 8 * 9 + i % 8) +
                       " begins a code with exponent field 255, which is not finite");
  }

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
