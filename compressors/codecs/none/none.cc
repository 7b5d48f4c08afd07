#include "compressors/codecs/codecs.h"
#include "compressors/codecs/float_terms.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/none/layout.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/kernels/output.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "none";

/// Terms are the floats themselves; a hop carries them unchanged.
class NoneTerms final : public FloatTerms {
 public:
  int width_bits(int) const override { return 32; }

  void to_terms(const TensorView& tensor, const SideInputs&, const Draws&,
                std::span<std::uint32_t> terms) const override {
    require_finite(kName, tensor, copy_values(tensor, terms));
  }

  void pack(std::span<const std::uint32_t> terms, int,
            std::span<std::byte> payload) const override {
    GRADWIRE_ASSERT(payload.size() >= packed_size(terms.size(), 1));
    kernels::copy_bytes(std::as_bytes(terms).data(), terms.size_bytes(),
                        kernels::is_streamed(terms.size_bytes()), payload.data());
  }

  void unpack_add(std::span<const std::byte> payload, int,
                  std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, packed_size(terms.size(), 1));
    kernels::add_scaled(payload.data(), terms.size(), 1.0f, floats_of(terms));
  }

  void unpack_store(std::span<const std::byte> payload, int,
                    std::span<std::uint32_t> terms) const override {
    require_size(kName, payload, packed_size(terms.size(), 1));
    kernels::copy_bytes(payload.data(), payload.size(), kernels::is_streamed(payload.size()),
                        std::as_writable_bytes(terms).data());
  }
};

class NoneCodec final : public LaidOutCodec<NoneCodec, NoneLayout> {
 public:
  NoneCodec() : LaidOutCodec(NoneLayout()) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const std::uint32_t largest = largest_over_ranges(
        job.team, data.size(), kRangeMultiple, [&](std::size_t begin, std::size_t end) {
          return kernels::copy_max_magnitude_bits(data.data() + begin, end - begin,
                                                  kernels::is_streamed(size),
                                                  job.payload.data() + 4 * begin);
        });
    require_finite(kName, job.tensor, largest);
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const auto values = std::as_writable_bytes(job.values);
    for_ranges(job.team, job.values.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 const std::byte* from = job.payload.data() + 4 * begin;
                 if (output == kernels::Output::kAdd)
                   kernels::add_scaled(from, end - begin, factor, job.values.data() + begin);
                 else
                   kernels::copy_bytes(from, 4 * (end - begin), kernels::is_streamed(values.size()),
                                       values.data() + 4 * begin);
               });
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
           .options = {},
           .float_bits = 32},
          [](const OptionValues&) -> CodecPtr { return std::make_shared<NoneCodec>(); }};
}

}  // namespace gradwire::compressors
