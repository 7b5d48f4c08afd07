#include <cmath>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/ranges.h"
#include "tests/compressors/added/toy/layout.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "toy";

/// Whole numbers of 127ths of the largest magnitude.
class ToyCodec final : public LaidOutCodec<ToyCodec, ToyLayout> {
 public:
  ToyCodec() : LaidOutCodec(ToyLayout()) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const std::uint32_t largest_bits = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest_bits);
    const float largest = float_of(largest_bits), top = ToyLayout::kTop;
    layout().store<ToyLayout::kCount>(job.payload, data.size());
    layout().store<ToyLayout::kLargest>(job.payload, largest);
    std::byte* codes = job.payload.data() + at<ToyLayout::kCodes>(data.size());
    for (std::size_t e = 0; e < data.size(); ++e) {
      const float parts = largest > 0 ? std::nearbyint(data[e] / largest * top) : 0.0f;
      codes[e] = static_cast<std::byte>(static_cast<int>(parts + top));
    }
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const std::size_t codes_at = at<ToyLayout::kCodes>(job.values.size());
    const auto& section = layout().section<ToyLayout::kCodes>();
    const float largest = layout().load<ToyLayout::kLargest>(job.payload.data());
    for (std::size_t e = 0; e < job.values.size(); ++e) {
      const auto code = std::to_integer<std::uint32_t>(job.payload[codes_at + e]);
      if (!section.check.good(code)) section.refuse_code(kName, job.payload, codes_at);
      const int parts = static_cast<int>(code) - ToyLayout::kTop;
      const float value = largest * (static_cast<float>(parts) / ToyLayout::kTop);
      job.values[e] = output == kernels::Output::kAdd ? job.values[e] + factor * value : value;
    }
  }
};

}  // namespace

CodecRow toy_row() {
  return {{.name = std::string(kName),
           .summary = "the nearest multiple of a 127th of the largest magnitude",
           .source = "this test",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {}},
          [](const OptionValues&) -> CodecPtr { return std::make_shared<ToyCodec>(); }};
}

}  // namespace gradwire::compressors
