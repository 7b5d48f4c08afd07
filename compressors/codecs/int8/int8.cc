#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::BitOrder;
using kernels::Output;

constexpr std::string_view kName = "int8";
constexpr std::size_t kHeaderBytes = 12;
constexpr std::uint32_t kTop = 255;

/// n u32 | min f32 | max f32 | n x u8, value = min + code unit with unit = (max - min) / 255, and
/// code 255 = max exactly: 12 + n bytes. n is at most 2^32 - 1.
class Int8Codec final : public Codec {
 public:
  explicit Int8Codec(LevelRounding rounding) : rounding_(rounding) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kHeaderBytes + tensor.n;
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    return PackedElements{kHeaderBytes, 8};
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    if (n > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kName, job.tensor.name, "its count field holds at most 4294967295 elements");
    if (rounding_ == LevelRounding::kDrawn) require_draws(kName, job.tensor, job.draws);
    const kernels::ValueRange range = whole_range(job);
    store_field(job.payload, 0, static_cast<std::uint32_t>(n));
    store_field(job.payload, 4, range.smallest);
    store_field(job.payload, 8, range.largest);
    const LevelGrid grid = level_grid(range.smallest, range.largest, kTop);
    auto* codes = reinterpret_cast<std::uint8_t*>(job.payload.data() + kHeaderBytes);
    for_ranges(job.team, n, 64, kRangeElements, [&](std::size_t begin, std::size_t end) {
      kernels::level_codes(job.tensor.data.data() + begin, end - begin, grid, rounding_, job.draws,
                           begin, kernels::byte_codes(codes + begin));
    });
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    decode_into(job, kernels::output_of(job.values.size_bytes()), 1.0f);
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    decode_into(job, Output::kAdd, factor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    require_header(payload, tensor.n);
    return {{0, 4, "n", "u32", std::to_string(tensor.n)},
            float_field(payload, 4, "min"),
            float_field(payload, 8, "max"),
            code_field(payload.subspan(kHeaderBytes), kHeaderBytes, tensor.n, 8,
                       BitOrder::kLowFirst, "codes")};
  }

 private:
  static kernels::ValueRange whole_range(const EncodeJob& job) {
    const std::span<const float> data = job.tensor.data;
    if (data.empty()) return {};
    std::mutex mutex;
    kernels::ValueRange all{data[0] + 0.0f, data[0] + 0.0f, true};
    for_ranges(job.team, data.size(), 64, kRangeElements, [&](std::size_t begin, std::size_t end) {
      const auto part = kernels::bucket_range(data.data() + begin, end - begin);
      const std::lock_guard lock(mutex);
      all.smallest = std::min(all.smallest, part.smallest);
      all.largest = std::max(all.largest, part.largest);
      all.finite = all.finite && part.finite;
    });
    if (!all.finite) require_finite(kName, job.tensor, kInfinityBits);
    return all;
  }

  static void require_header(std::span<const std::byte> payload, std::size_t n) {
    require_size(kName, payload, kHeaderBytes + n);
    if (const auto count = load_field<std::uint32_t>(payload, 0); count != n)
      refuse_payload(kName, payload.size(),
                     "byte 0 begins a count of " + std::to_string(count) + ", the tensor has " +
                         std::to_string(n) + " elements");
    const auto smallest = load_field<float>(payload, 4), largest = load_field<float>(payload, 8);
    if (!std::isfinite(smallest))
      refuse_payload(kName, payload.size(), "byte 4 begins a minimum that is not finite");
    if (!std::isfinite(largest) || largest < smallest)
      refuse_payload(kName, payload.size(),
                     "byte 8 begins a maximum that is not finite or below the minimum");
  }

  static void decode_into(const DecodeJob& job, Output output, float factor) {
    const std::size_t n = job.values.size();
    require_header(job.payload, n);
    const auto largest = load_field<float>(job.payload, 8);
    const LevelGrid grid = level_grid(load_field<float>(job.payload, 4), largest, kTop);
    const kernels::PackedCodes codes{job.payload.data() + kHeaderBytes, 8};
    for_ranges(job.team, n, 64, kRangeElements, [&](std::size_t begin, std::size_t end) {
      kernels::level_values(codes.from(begin), end - begin, grid, largest, output, factor,
                            job.values.data() + begin);
    });
  }

  LevelRounding rounding_;
};

}  // namespace

CodecRow int8_row() {
  return {{.name = std::string(kName),
           .summary = "256 evenly spaced levels between the minimum and maximum of the tensor",
           .source = "Aketi, Kodge, Roy, arXiv 2111.09389",
           .policy = AggregatePolicy::kRequantize,
           .unbiased = false,
           .options = {rounding_option("nearest, ties to even, or stochastic, unbiased")}},
          [](const OptionValues& values) -> CodecPtr {
            return std::make_shared<Int8Codec>(values.text("rounding") == "stochastic"
                                                   ? LevelRounding::kDrawn
                                                   : LevelRounding::kHalfToEven);
          }};
}

}  // namespace gradwire::compressors
