#include "compressors/arithmetic/power_of_two.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/log/kernel.h"
#include "compressors/codecs/log/layout.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "log";
constexpr int kBits = LogLayout::kBits;

class LogCodec final : public LaidOutCodec<LogCodec, LogLayout> {
 public:
  LogCodec() : LaidOutCodec(LogLayout()) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const std::uint32_t largest = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest);
    const int emax = log_largest_exponent(largest);
    layout().store<LogLayout::kCount>(job.payload, data.size());
    layout().store<LogLayout::kExponent>(job.payload, emax);
    write_packed(job.team, data.size(), kBits,
                 job.payload.subspan(at<LogLayout::kCodes>(data.size())),
                 [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                   return kernels::log_codes(data.data() + at, count, emax, codes);
                 });
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const std::size_t n = job.values.size();
    const int emax = layout().load<LogLayout::kExponent>(job.payload.data());
    const kernels::PackedCodes codes{job.payload.data() + at<LogLayout::kCodes>(n), kBits};
    for_ranges(job.team, n, kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 kernels::log_values(codes.from(begin), end - begin, emax, output, factor,
                                     job.values.data() + begin);
               });
  }
};

}  // namespace

CodecRow log_row() {
  return {{.name = std::string(kName),
           .summary = "the nearest power of two (on a log scale) in 6 bits, 31 octaves below the "
                      "largest",
           .source = "Hubara et al., Quantized neural networks, arXiv 1609.07061",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {}},
          [](const OptionValues&) -> CodecPtr { return std::make_shared<LogCodec>(); }};
}

}  // namespace gradwire::compressors
