#include <limits>

#include "compressors/arithmetic/power_of_two.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/log/kernel.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "log";
constexpr int kBits = 6;
constexpr std::size_t kCodes = 5;  ///< byte at which the codes begin

/// n u32, emax i8, then n codes of 6 bits: 5 + ceil(6 n / 8) bytes.
class LogCodec final : public Codec {
 public:
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kCodes + packed_bytes(tensor.n, kBits);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    return PackedElements{kCodes, kBits};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = max_encoded_size(data.size());
    GRADWIRE_ASSERT(job.payload.size() >= size);
    if (data.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kName, job.tensor.name, "it has more elements than a 32-bit count can say");
    const std::uint32_t largest = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest);
    const int emax = log_largest_exponent(largest);
    store_field(job.payload, 0, static_cast<std::uint32_t>(data.size()));
    store_field(job.payload, 4, static_cast<std::int8_t>(emax));
    write_packed(job.team, data.size(), kBits, job.payload.subspan(kCodes),
                 [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                   return kernels::log_codes(data.data() + at, count, emax, codes);
                 });
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, 1.0f, kernels::output_of(job.values.size_bytes()));
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, factor, kernels::Output::kAdd);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    const int emax = checked_exponent(payload, tensor.n);
    return {{0, 4, "n", "u32", std::to_string(tensor.n)},
            {4, 1, "emax", "i8", std::to_string(emax)},
            code_field(payload.subspan(kCodes), kCodes, tensor.n, kBits,
                       kernels::BitOrder::kLowFirst, "codes")};
  }

 private:
  static void read(const DecodeJob& job, float factor, kernels::Output output) {
    const int emax = checked_exponent(job.payload, job.values.size());
    const kernels::PackedCodes codes{job.payload.data() + kCodes, kBits};
    for_ranges(job.team, job.values.size(), kRangeMultiple, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 kernels::log_values(codes.from(begin), end - begin, emax, output, factor,
                                     job.values.data() + begin);
               });
  }

  static int checked_exponent(std::span<const std::byte> payload, std::size_t n) {
    require_size(kName, payload, kCodes + packed_bytes(n, kBits));
    const auto count = load_field<std::uint32_t>(payload, 0);
    if (count != n)
      refuse_payload(kName, payload.size(),
                     "byte 0 begins a count of " + std::to_string(count) + " for " +
                         std::to_string(n) + " elements");
    return load_field<std::int8_t>(payload, 4);
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
