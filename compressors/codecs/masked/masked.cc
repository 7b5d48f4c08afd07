#include <bit>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/masked/layout.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/kernels/kernels.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "masked";
constexpr std::size_t kBlock = 4096;  // elements that stay in the first-level cache

using Mask = std::span<const std::uint8_t>;

std::size_t mask_bytes(std::size_t n) {
  return packed_bytes(n, 1);
}

/// Bits [64 w, 64 w + 64) of a mask of n bits, those beyond n as 0. An empty mask is all ones.
std::uint64_t mask_word(Mask mask, std::size_t w, std::size_t n) {
  std::uint64_t word = ~std::uint64_t{0};
  if (!mask.empty()) {
    const std::size_t left = mask.size() - 8 * w;
    if (left < 8) word = 0;
    std::memcpy(&word, mask.data() + 8 * w, left < 8 ? left : std::size_t{8});
  }
  const std::size_t bits = n - 64 * w;
  return bits < 64 ? word & ((std::uint64_t{1} << bits) - 1) : word;
}

std::size_t count_ones(Mask mask, std::size_t n) {
  std::size_t ones = 0;
  for (std::size_t w = 0; 64 * w < n; ++w)
    ones += static_cast<std::size_t>(std::popcount(mask_word(mask, w, n)));
  return ones;
}

/// Copies the values under the mask from elements [begin, end), begin a multiple of 64.
std::byte* gather(Mask mask, std::span<const float> data, std::size_t begin, std::size_t end,
                  std::byte* out) {
  for (; begin < end; begin += 64) {
    std::uint64_t word = mask_word(mask, begin / 64, data.size());
    if (word == ~std::uint64_t{0}) {
      std::memcpy(out, data.data() + begin, 256);
      out += 256;
      continue;
    }
    for (; word != 0; word &= word - 1, out += 4)
      std::memcpy(out, data.data() + begin + static_cast<std::size_t>(std::countr_zero(word)), 4);
  }
  return out;
}

/// The values under a mask that both sides know, or a record that carries the mask.
class MaskedCodec final : public WalkedCodec<MaskedCodec> {
 public:
  explicit MaskedCodec(bool record) : record_(record) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return size(tensor.n, tensor.n);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t n = data.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
    if (record_) refuse_beyond(kName, job.tensor, 0xFFFFFFFFu);
    const Mask mask = checked_mask(job.side, n);
    std::byte* out = job.payload.data() + values_offset(n);
    std::uint32_t largest = 0;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
      const std::size_t end = std::min(n, begin + kBlock);
      largest = std::max(largest, kernels::max_magnitude_bits(data.data() + begin, end - begin));
      out = gather(mask, data, begin, end, out);
    }
    require_finite(kName, job.tensor, largest);
    job.written = static_cast<std::size_t>(out - job.payload.data());
    if (record_) write_header(job, mask);
    return job.written;
  }

  Mask open(const DecodeJob& job, std::span<std::byte>) const {
    const std::size_t n = job.values.size();
    const Mask mask = mask_of(job.payload, job.side, n);
    require_size(kName, job.payload, size(n, count_ones(mask, n)));
    return mask;
  }
  template <class Visit>
  void walk(const DecodeJob& job, Mask mask, Visit&& visit) const {
    const std::size_t n = job.values.size();
    std::size_t byte = values_offset(n);
    for (std::size_t w = 0; 64 * w < n; ++w)
      for (std::uint64_t word = mask_word(mask, w, n); word != 0;
           word &= word - 1, byte += sizeof(float))
        visit(
            static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(word)),
            checked_number<float>(kName, job.payload, byte, SentValues().check));
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    const std::size_t k = (payload.size() - values_offset(tensor.n)) / sizeof(float);
    auto fields = described(payload, MaskedLayout(record_, k), extent_of(tensor));
    std::erase_if(fields, [](const PayloadField& field) { return field.bytes == 0; });
    for (PayloadField& field : fields)
      if (field.name == "mask") field.value = std::to_string(k) + " ones";
    return fields;
  }

 private:
  std::size_t size(std::size_t n, std::size_t k) const {
    return static_cast<std::size_t>(MaskedLayout(record_, k).size({.n = n}));
  }
  std::size_t values_offset(std::size_t n) const {
    return static_cast<std::size_t>(MaskedLayout(record_).at<MaskedLayout::kValues>({.n = n}));
  }

  static Mask checked_mask(const SideInputs& side, std::size_t n) {
    GRADWIRE_ASSERT(side.mask.empty() || side.mask.size() == mask_bytes(n));
    return side.mask;
  }

  void write_header(const EncodeJob& job, Mask mask) const {
    const std::size_t n = job.tensor.data.size();
    const std::size_t k = (job.written - values_offset(n)) / sizeof(float);
    const MaskedLayout layout(true);
    layout.store<MaskedLayout::kLength>(job.payload, n);
    layout.store<MaskedLayout::kCount>(job.payload, k);
    for (std::size_t w = 0; 64 * w < n; ++w) {
      const std::uint64_t word = mask_word(mask, w, n);
      std::memcpy(job.payload.data() + mask_at() + 8 * w, &word,
                  std::min<std::size_t>(8, mask_bytes(n) - 8 * w));
    }
  }

  /// The mask that both sides know, or the record's own.
  Mask mask_of(std::span<const std::byte> payload, const SideInputs& side, std::size_t n) const {
    if (!record_) return checked_mask(side, n);
    const MaskedLayout head(true);
    require_head(kName, payload, head, {.n = n});
    const std::size_t k = head.load<MaskedLayout::kCount>(payload.data());
    const Mask mask = {reinterpret_cast<const std::uint8_t*>(payload.data()) + mask_at(),
                       mask_bytes(n)};
    if (count_ones(mask, n) != k)
      refuse_payload(kName, payload.size(),
                     "byte " + std::to_string(mask_at()) + " begins a mask that has not the " +
                         std::to_string(k) + " ones of the count");
    return mask;
  }

  static std::size_t mask_at() {
    return static_cast<std::size_t>(MaskedLayout(true).at<MaskedLayout::kMask>({}));
  }

  bool record_;
};

}  // namespace

CodecRow masked_row() {
  const OptionSpec format = {
      .name = "format",
      .type = OptionType::kChoice,
      .default_text = "values",
      .help = "the values alone, under a mask that both sides know, or a record with its bitmap",
      .choices = {"values", "record"}};
  return {{.name = std::string(kName),
           .summary = "the values under a known mask; others are 0",
           .source = "Evci et al., RigL, arXiv 1911.11134",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {format},
           .family = CodecFamily::kSparse,
           .needs_mask = true},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<MaskedCodec>(options.text("format") == "record");
          }};
}

}  // namespace gradwire::compressors
