#include <algorithm>
#include <bit>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/kernels/kernels.h"
#include "compressors/ordered_sum.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "terngrad";
constexpr std::size_t kScaleBytes = 4;
constexpr std::size_t kChunk = 1024;  // draws that stay in the first-level cache; a multiple of 4

std::size_t code_bytes(std::size_t n) {
  return packed_bytes(n, 2);
}

/// max|g| after clipping at clip * sigma; refuses values that are not finite.
float own_scale(const TensorView& tensor, double clip) {
  const std::span<const float> data = tensor.data;
  if (data.empty()) return 0.0f;
  PairwiseSum sum, sum_squares;
  std::uint32_t largest = 0;
  for (std::size_t begin = 0; begin < data.size(); begin += kSumBlock) {
    const std::size_t n = std::min(kSumBlock, data.size() - begin);
    const auto block = kernels::block_moments(data.data() + begin, n, double{data[0]});
    sum.add(block.sum);
    sum_squares.add(block.sum_squares);
    largest = std::max(largest, block.max_magnitude);
  }
  require_finite(kName, tensor, largest);
  return ternary_scale(sum.total(), sum_squares.total(), float_of(largest), data.size(), clip);
}

/// Codes of elements [begin, begin + n), n <= kChunk, from drawn words; returns max magnitude bits.
std::uint32_t drawn_codes(const float* values, const Draws& draws, std::size_t begin, std::size_t n,
                          TernaryRule rule, std::byte* codes) {
  std::uint32_t words[kChunk + 8];
  const std::uint64_t first = draws.first_element + begin;
  const std::size_t skip = first % 4;
  kernels::philox_words(draws.stream, static_cast<std::uint32_t>(first / 4), (skip + n + 3) / 4,
                        words);
  return kernels::ternary_codes(values + begin, words + skip, n, rule, codes);
}

std::uint32_t injected_codes(const float* values, std::span<const float> u, std::size_t begin,
                             std::size_t n, TernaryRule rule, std::byte* codes) {
  std::uint32_t largest = 0;
  std::fill(codes, codes + code_bytes(n), std::byte{0});
  for (std::size_t i = 0; i < n; ++i) {
    const float value = values[begin + i];
    const int code = ternary_term(value, u[begin + i] * 16777216.0f, rule) + 1;
    codes[i / 4] |= static_cast<std::byte>(code << (2 * (i % 4)));
    largest = std::max(largest, magnitude_bits(value));
  }
  return largest;
}

/// Calls sink(begin, n, codes) for chunk after chunk; refuses values that are not finite.
template <class Sink>
void for_each_chunk(const TensorView& tensor, const Draws& draws, float scale, Sink&& sink) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(draws.injected.empty() || draws.injected.size() == n);
  if (n > (std::uint64_t{1} << 34) || draws.first_element > (std::uint64_t{1} << 34) - n)
    refuse_tensor(kName, tensor.name, "a random stream has draws for 2^34 elements only");
  const TernaryRule rule = ternary_rule(scale);
  std::uint32_t largest = 0;
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t count = std::min(kChunk, n - begin);
    std::byte codes[kChunk / 4];
    const std::uint32_t seen =
        draws.injected.empty()
            ? drawn_codes(tensor.data.data(), draws, begin, count, rule, codes)
            : injected_codes(tensor.data.data(), draws.injected, begin, count, rule, codes);
    largest = std::max(largest, seen);
    sink(begin, count, codes);
  }
  require_finite(kName, tensor, largest);
}

float checked_shared_scale(const TensorView& tensor, float scale) {
  if (!(scale >= 0.0f) || std::isinf(scale))
    refuse_tensor(kName, tensor.name, "the shared scale is not a finite number >= 0");
  return scale;
}

/// Terms are int32 sums T of t over j workers, |T| <= j, sent as code T + j.
class TernaryTerms final : public SumTerms {
 public:
  // ceil(log2(2 j + 1)) = bits of 2 j.
  int width_bits(int contributors) const override {
    GRADWIRE_ASSERT(contributors >= 1 && contributors < (1 << 30));
    return static_cast<int>(std::bit_width(2u * static_cast<unsigned>(contributors)));
  }

  void to_terms(const TensorView& tensor, const SideInputs& side, const Draws& draws,
                std::span<std::uint32_t> terms) const override {
    GRADWIRE_ASSERT(terms.size() == tensor.data.size());
    const float scale = checked_shared_scale(tensor, side.shared_scale);
    for_each_chunk(tensor, draws, scale, [&](std::size_t begin, std::size_t n, std::byte* codes) {
      unpack_bits({codes, code_bytes(n)}, 2, 1, terms.subspan(begin, n));
    });
  }

  void pack(std::span<const std::uint32_t> terms, int contributors,
            std::span<std::byte> payload) const override {
    const auto j = static_cast<std::uint32_t>(contributors);
    pack_bits(terms, width_bits(contributors), j, 2 * j, payload);
  }

  void unpack_add(std::span<const std::byte> payload, int contributors,
                  std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, packed_size(terms.size(), contributors));
    const auto j = static_cast<std::uint32_t>(contributors);
    require_codes(unpack_bits_add(payload, width_bits(contributors), j, terms), payload,
                  terms.size(), contributors);
  }

  void unpack_store(std::span<const std::byte> payload, int contributors,
                    std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, packed_size(terms.size(), contributors));
    const auto j = static_cast<std::uint32_t>(contributors);
    require_codes(unpack_bits(payload, width_bits(contributors), j, terms), payload, terms.size(),
                  contributors);
  }

  void to_values(std::span<const std::uint32_t> terms, const SideInputs& side, float factor,
                 std::span<float> values) const override {
    GRADWIRE_ASSERT(values.size() == terms.size() && side.shared_scale >= 0.0f);
    const float unit = factor * side.shared_scale;
    for (std::size_t i = 0; i < terms.size(); ++i)
      values[i] = static_cast<float>(static_cast<std::int32_t>(terms[i])) * unit;
  }

 private:
  void require_codes(std::uint32_t seen, std::span<const std::byte> payload, std::size_t n,
                     int contributors) const {
    const auto largest = 2 * static_cast<std::uint32_t>(contributors);
    if (seen <= largest) return;
    const int width = width_bits(contributors);
    const std::size_t i = first_code_above(payload, width, n, largest);
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(i * static_cast<std::size_t>(width) / 8) +
                       " holds a code beyond " + std::to_string(largest) + ", the largest sum of " +
                       std::to_string(contributors) + " workers");
  }
};

/// f32 s, then codes t + 1 at 2 bits, LSB first: 4 + ceil(n / 4) bytes.
class TernGradCodec final : public Codec {
 public:
  explicit TernGradCodec(double clip) : clip_(clip) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  bool wants_shared_scale() const override { return true; }
  float local_scale(const TensorView& tensor) const override { return own_scale(tensor, clip_); }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kScaleBytes + code_bytes(tensor.n);
  }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t size = max_encoded_size(job.tensor.data.size());
    GRADWIRE_ASSERT(job.payload.size() >= size);
    const bool own = job.side.shared_scale < 0.0f;
    const float scale = own ? own_scale(job.tensor, clip_)
                            : checked_shared_scale(job.tensor, job.side.shared_scale);
    store_field(job.payload, 0, scale);
    const auto codes_out = job.payload.subspan(kScaleBytes);
    for_each_chunk(job.tensor, job.draws, scale,
                   [&](std::size_t begin, std::size_t n, const std::byte* codes) {
                     std::copy_n(codes, code_bytes(n), codes_out.begin() + begin / 4);
                   });
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    const float scale = checked_payload(job);
    kernels::ternary_values(job.payload.data() + kScaleBytes, job.values.size(), scale,
                            job.values.data());
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    const float scale = checked_payload(job);
    kernels::ternary_values_add(job.payload.data() + kScaleBytes, job.values.size(), factor * scale,
                                job.values.data());
  }

 private:
  static float checked_payload(const DecodeJob& job) {
    const std::size_t n = job.values.size();
    require_size(kName, job.payload, kScaleBytes + code_bytes(n));
    const float scale = load_field<float>(job.payload, 0);
    if (!std::isfinite(scale) || std::signbit(scale))
      refuse_payload(kName, job.payload.size(),
                     "byte 0 begins a scale that is not finite and >= 0");
    require_ternary(job.payload, n);
    return scale;
  }

  // Both bits of a code set is code 3. Bits beyond the last code are ignored.
  static void require_ternary(std::span<const std::byte> payload, std::size_t n) {
    const std::span<const std::byte> codes = payload.subspan(kScaleBytes);
    std::uint64_t bad = 0;
    std::size_t at = 0;
    for (; 4 * at + 32 <= n; at += 8) {
      const auto word = load_field<std::uint64_t>(codes, at);
      bad |= word & (word >> 1) & 0x5555555555555555ull;
    }
    const bool tail_bad = first_code_above(codes.subspan(at), 2, n - 4 * at, 2) < n - 4 * at;
    if (bad == 0 && !tail_bad) return;
    const std::size_t byte = first_code_above(codes, 2, n, 2) / 4;
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(kScaleBytes + byte) + " holds code 3");
  }

  double clip_;
  TernaryTerms terms_;
};

}  // namespace

CodecRow terngrad_row() {
  const OptionSpec clip = {
      .name = "clip",
      .type = OptionType::kNumber,
      .default_text = "2.5",
      .help =
          "values are clipped at this many standard deviations (the paper's 2.5); 0 = no "
          "clipping, which makes the codec unbiased",
      .min = 0};
  return {{.name = std::string(kName),
           .summary = "ternary values -s, 0, s in 2 bits, chosen at random with the right mean",
           .source = "Wen et al., TernGrad, arXiv 1705.07878",
           .policy = AggregatePolicy::kSum,
           .unbiased = false,
           .options = {clip}},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<TernGradCodec>(options.number("clip"));
          }};
}

}  // namespace gradwire::compressors
