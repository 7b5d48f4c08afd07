#include <algorithm>
#include <cstring>

#include "compressors/arithmetic/half.h"
#include "compressors/codecs/codecs.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "fp16";

void saturate_halves(std::span<std::byte> halves) {
  for (std::size_t at = 0; at + 2 <= halves.size(); at += 2) {
    const auto half = load_field<std::uint16_t>(halves, at);
    const bool infinite = (half & 0x7FFFu) == 0x7C00u;
    store_field(halves, at, static_cast<std::uint16_t>(half - (infinite ? 1 : 0)));
  }
}

/// n floats -> 2 n bytes; returns the largest magnitude bits of the input.
std::uint32_t write_halves(const float* values, std::size_t n, bool saturate,
                           std::span<std::byte> payload) {
  GRADWIRE_ASSERT(payload.size() >= 2 * n);
  const std::uint32_t largest = kernels::to_half(values, n, payload.data());
  if (saturate && largest >= kHalfOverflowBits) saturate_halves(payload.first(2 * n));
  return largest;
}

// Terms are floats in 4-byte words; float is what the kernels take.
const float* as_floats(std::span<const std::uint32_t> terms) {
  return reinterpret_cast<const float*>(terms.data());
}
float* as_floats(std::span<std::uint32_t> terms) {
  return reinterpret_cast<float*>(terms.data());
}

/// Float terms; each hop rounds the partial sum to binary16.
class HalfTerms final : public SumTerms {
 public:
  explicit HalfTerms(bool saturate) : saturate_(saturate) {}
  int width_bits(int) const override { return 16; }

  void to_terms(const TensorView& tensor, const SideInputs&, const Draws&,
                std::span<std::uint32_t> terms) const override {
    const std::size_t n = tensor.data.size();
    GRADWIRE_ASSERT(terms.size() == n);
    require_finite(kName, tensor, kernels::max_magnitude_bits(tensor.data.data(), n));
    if (n > 0) std::memcpy(terms.data(), tensor.data.data(), 4 * n);
  }

  void pack(std::span<const std::uint32_t> terms, int,
            std::span<std::byte> payload) const override {
    write_halves(as_floats(terms), terms.size(), saturate_, payload);
  }

  void unpack_add(std::span<const std::byte> payload, int,
                  std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, 2 * terms.size());
    kernels::from_half_add(payload.data(), terms.size(), 1.0f, as_floats(terms));
  }

  void unpack_store(std::span<const std::byte> payload, int,
                    std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, 2 * terms.size());
    kernels::from_half(payload.data(), terms.size(), as_floats(terms));
  }

  void round_as_packed(std::span<std::uint32_t> terms, int) const override {
    for (std::uint32_t& term : terms)
      term = bits_of(float_from_half(half_from_float(float_of(term), saturate_)));
  }

  void to_values(std::span<const std::uint32_t> terms, const SideInputs&, float factor,
                 std::span<float> values) const override {
    GRADWIRE_ASSERT(values.size() == terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) values[i] = factor * float_of(terms[i]);
  }

 private:
  bool saturate_;
};

/// binary16, little-endian, 2 n bytes, round to nearest even.
class Fp16Codec final : public Codec {
 public:
  explicit Fp16Codec(bool saturate) : saturate_(saturate), terms_(saturate) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 2 * tensor.n; }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    require_finite(kName, job.tensor,
                   write_halves(data.data(), data.size(), saturate_, job.payload));
    return job.written = 2 * data.size();
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    require_size(kName, job.payload, 2 * job.values.size());
    kernels::from_half(job.payload.data(), job.values.size(), job.values.data());
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    require_size(kName, job.payload, 2 * job.values.size());
    kernels::from_half_add(job.payload.data(), job.values.size(), factor, job.values.data());
  }

 private:
  bool saturate_;
  HalfTerms terms_;
};

}  // namespace

CodecRow fp16_row() {
  const OptionSpec overflow = {
      .name = "overflow",
      .type = OptionType::kChoice,
      .default_text = "infinity",
      .help =
          "what a value beyond 65504 becomes: infinity (IEEE 754, what loss scaling looks for) "
          "or the largest finite value",
      .choices = {"infinity", "saturate"}};
  return {{.name = std::string(kName),
           .summary = "values rounded to binary16, to nearest even",
           .source = "IEEE 754 binary16; Micikevicius et al., arXiv 1710.03740",
           .policy = AggregatePolicy::kSum,
           .unbiased = false,
           .options = {overflow}},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<Fp16Codec>(options.text("overflow") == "saturate");
          }};
}

}  // namespace gradwire::compressors
