#include "compressors/codecs/half_codec.h"

#include <bit>
#include <cstring>

#include "compressors/arithmetic/bfloat.h"
#include "compressors/arithmetic/half.h"
#include "compressors/codecs/float_terms.h"
#include "compressors/codecs/half_layout.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

using kernels::HalfFormat;
using kernels::Output;

struct HalfRules {
  std::string_view name;
  HalfFormat format;
  bool saturate;
  bool sends_all = false;  ///< NaN and infinity, too

  std::uint16_t infinity() const { return format == HalfFormat::kBinary16 ? 0x7C00u : 0x7F80u; }
  std::uint32_t overflow_bits() const {
    return format == HalfFormat::kBinary16 ? kHalfOverflowBits : kBfloatOverflowBits;
  }

  void check(const TensorView& tensor, std::uint32_t largest) const {
    if (!sends_all) require_finite(name, tensor, largest);
  }

  /// What a sum of so many workers is multiplied with on the wire: see the header.
  float wire_scale(int contributors) const {
    if (format == HalfFormat::kBfloat16) return 1.0f;
    return 1.0f / static_cast<float>(std::bit_ceil(static_cast<unsigned>(contributors)));
  }

  void replace_infinities(std::span<std::byte> halves) const {
    for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
      const auto half = load_field<std::uint16_t>(halves, at);
      const bool infinite = (half & 0x7FFFu) == infinity();
      store_field(halves, at, static_cast<std::uint16_t>(half - (infinite ? 1 : 0)));
    }
  }

  /// n floats -> 2 n bytes; returns the largest magnitude bits of the input.
  std::uint32_t write(const float* values, std::size_t n, float scale, bool streamed,
                      std::byte* halves) const {
    const std::uint32_t largest = kernels::to_half(values, n, format, scale, streamed, halves);
    if (saturate && largest >= overflow_bits()) replace_infinities({halves, 2 * n});
    return largest;
  }
};

class HalfTerms final : public FloatTerms {
 public:
  explicit HalfTerms(const HalfRules& rules) : rules_(rules) {}
  int width_bits(int) const override { return 16; }

  void to_terms(const TensorView& tensor, const SideInputs&, const Draws&,
                std::span<std::uint32_t> terms) const override {
    rules_.check(tensor, copy_values(tensor, terms));
  }

  void pack(std::span<const std::uint32_t> terms, int contributors,
            std::span<std::byte> payload) const override {
    const std::size_t size = packed_size(terms.size(), 1);
    GRADWIRE_ASSERT(payload.size() >= size);
    rules_.write(floats_of(terms), terms.size(), rules_.wire_scale(contributors),
                 kernels::is_streamed(size), payload.data());
  }

  void unpack_add(std::span<const std::byte> payload, int contributors,
                  std::span<std::uint32_t> terms) const override {
    unpack(payload, contributors, Output::kAdd, terms);
  }

  void unpack_store(std::span<const std::byte> payload, int contributors,
                    std::span<std::uint32_t> terms) const override {
    unpack(payload, contributors, Output::kStore, terms);  // read again at the next hop
  }

  void round_as_packed(std::span<std::uint32_t> terms, int contributors) const override {
    constexpr std::size_t kChunk = 2048;
    const float scale = rules_.wire_scale(contributors);
    std::byte halves[2 * kChunk];
    for (std::size_t begin = 0; begin < terms.size(); begin += kChunk) {
      const auto part = terms.subspan(begin, std::min(kChunk, terms.size() - begin));
      rules_.write(floats_of(part), part.size(), scale, false, halves);
      kernels::from_half(halves, part.size(), rules_.format, Output::kStore, 1.0f / scale,
                         floats_of(part));
    }
  }

 private:
  void unpack(std::span<const std::byte> payload, int contributors, Output output,
              std::span<std::uint32_t> terms) const {
    require_size(rules_.name, payload, packed_size(terms.size(), 1));
    kernels::from_half(payload.data(), terms.size(), rules_.format, output,
                       1.0f / rules_.wire_scale(contributors), floats_of(terms));
  }

  HalfRules rules_;
};

class HalfCodec final : public LaidOutCodec<HalfCodec, HalfLayout> {
 public:
  explicit HalfCodec(const HalfRules& rules)
      : LaidOutCodec(HalfLayout()), rules_(rules), terms_(rules) {}
  std::string_view name() const override { return rules_.name; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const std::uint32_t largest = largest_over_ranges(
        job.team, data.size(), kRangeMultiple, [&](std::size_t begin, std::size_t end) {
          return rules_.write(data.data() + begin, end - begin, 1.0f, kernels::is_streamed(size),
                              job.payload.data() + 2 * begin);
        });
    rules_.check(job.tensor, largest);
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    for_ranges(job.team, job.values.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 kernels::from_half(job.payload.data() + 2 * begin, end - begin, rules_.format,
                                    output, factor, job.values.data() + begin);
               });
  }

  void show(const std::vector<float>& decoded, std::vector<PayloadField>& fields) const {
    fields[0].type =
        counted(rules_.format == HalfFormat::kBinary16 ? "f16" : "bf16", decoded.size());
    fields[0].value =
        first_few(decoded.size(), [&](std::size_t i) { return float_text(decoded[i]); });
  }

 private:
  HalfRules rules_;
  HalfTerms terms_;
};

}  // namespace

CodecPtr make_half_codec(std::string_view name, kernels::HalfFormat format, bool saturate,
                         bool sends_all) {
  return std::make_shared<HalfCodec>(HalfRules{name, format, saturate, sends_all});
}

OptionSpec half_overflow_option(std::string_view largest) {
  return {.name = "overflow",
          .type = OptionType::kChoice,
          .default_text = "infinity",
          .help = "what a value beyond " + std::string(largest) +
                  " becomes: infinity (IEEE 754, what loss scaling looks for) or the largest "
                  "finite value",
          .choices = {"infinity", "saturate"}};
}

}  // namespace gradwire::compressors
