#include <algorithm>
#include <mutex>

#include "base/thread_team.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/int8/layout.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "int8";
constexpr std::uint32_t kTop = Int8Layout::kTop;

class Int8Codec final : public LaidOutCodec<Int8Codec, Int8Layout> {
 public:
  explicit Int8Codec(LevelRounding rounding) : LaidOutCodec(Int8Layout()), rounding_(rounding) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kRequantize; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size(), size = begin_encoding(job);
    if (rounding_ == LevelRounding::kDrawn) require_draws(kName, job.tensor, job.draws);
    const kernels::ValueRange range = whole_range(job);
    layout().store<Int8Layout::kCount>(job.payload, n);
    layout().store<Int8Layout::kMin>(job.payload, range.smallest);
    layout().store<Int8Layout::kMax>(job.payload, range.largest);
    const LevelGrid grid = level_grid(range.smallest, range.largest, kTop);
    auto* codes = reinterpret_cast<std::uint8_t*>(job.payload.data() + at<Int8Layout::kCodes>(n));
    for_ranges(job.team, n, 64, kRangeElements, [&](std::size_t begin, std::size_t end) {
      kernels::level_codes(job.tensor.data.data() + begin, end - begin, grid, rounding_, job.draws,
                           begin, kernels::byte_codes(codes + begin));
    });
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const std::size_t n = job.values.size();
    const std::byte* payload = job.payload.data();
    const auto largest = layout().load<Int8Layout::kMax>(payload);
    const LevelGrid grid = level_grid(layout().load<Int8Layout::kMin>(payload), largest, kTop);
    const kernels::PackedCodes codes{payload + at<Int8Layout::kCodes>(n), 8};
    for_ranges(job.team, n, 64, kRangeElements, [&](std::size_t begin, std::size_t end) {
      kernels::level_values(codes.from(begin), end - begin, grid, largest, output, factor,
                            job.values.data() + begin);
    });
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
