#include <algorithm>
#include <cstring>

#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/codecs.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "none";

/// Terms are the floats themselves; a hop carries them unchanged.
class NoneTerms final : public SumTerms {
 public:
  int width_bits(int) const override { return 32; }

  void to_terms(const TensorView& tensor, const SideInputs&, const Draws&,
                std::span<std::uint32_t> terms) const override {
    const std::size_t n = tensor.data.size();
    GRADWIRE_ASSERT(terms.size() == n);
    require_finite(kName, tensor, kernels::max_magnitude_bits(tensor.data.data(), n));
    if (n > 0) std::memcpy(terms.data(), tensor.data.data(), 4 * n);
  }

  void pack(std::span<const std::uint32_t> terms, int,
            std::span<std::byte> payload) const override {
    GRADWIRE_ASSERT(payload.size() >= 4 * terms.size());
    if (!terms.empty()) std::memcpy(payload.data(), terms.data(), 4 * terms.size());
  }

  void unpack_add(std::span<const std::byte> payload, int,
                  std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, 4 * terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i)
      terms[i] = bits_of(float_of(terms[i]) + load_field<float>(payload, 4 * i));
  }

  void unpack_store(std::span<const std::byte> payload, int,
                    std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, 4 * terms.size());
    if (!terms.empty()) std::memcpy(terms.data(), payload.data(), payload.size());
  }

  void to_values(std::span<const std::uint32_t> terms, const SideInputs&, float factor,
                 std::span<float> values) const override {
    GRADWIRE_ASSERT(values.size() == terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) values[i] = factor * float_of(terms[i]);
  }
};

/// binary32, little-endian, 4 n bytes.
class NoneCodec final : public Codec {
 public:
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override { return 4 * tensor.n; }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    GRADWIRE_ASSERT(job.payload.size() >= data.size_bytes());
    require_finite(kName, job.tensor, kernels::max_magnitude_bits(data.data(), data.size()));
    if (!data.empty()) std::memcpy(job.payload.data(), data.data(), data.size_bytes());
    return job.written = data.size_bytes();
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    require_size(kName, job.payload, job.values.size_bytes());
    if (!job.values.empty()) std::memcpy(job.values.data(), job.payload.data(), job.payload.size());
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    require_size(kName, job.payload, job.values.size_bytes());
    for (std::size_t i = 0; i < job.values.size(); ++i)
      job.values[i] += factor * load_field<float>(job.payload, 4 * i);
  }

 private:
  NoneTerms terms_;
};

}  // namespace

CodecRow none_row() {
  return {{.name = std::string(kName),
           .summary = "no compression: binary32 values as they are",
           .source = "IEEE 754 binary32",
           .policy = AggregatePolicy::kSum,
           .unbiased = true,
           .options = {}},
          [](const OptionValues&) -> CodecPtr { return std::make_shared<NoneCodec>(); }};
}

}  // namespace gradwire::compressors
