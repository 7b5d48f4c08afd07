#include <cmath>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/codecs/ternary/kernel.h"
#include "compressors/codecs/ternary/layout.h"
#include "compressors/codecs/ternary/threshold_search.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "ternary";
constexpr std::size_t kTritChunk = 2560;  ///< elements; whole bytes of bits, of trits, of vectors

template <class Derived, class LayoutOfIt>
class TernaryBase : public LaidOutCodec<Derived, LayoutOfIt> {
 public:
  using LaidOutCodec<Derived, LayoutOfIt>::LaidOutCodec;
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

 protected:
  void write_header(const EncodeJob& job, float level) const {
    this->layout().template store<kTernaryCount>(job.payload, job.tensor.data.size());
    this->layout().template store<kTernaryLevel>(job.payload, level);
  }
  float level_of(const DecodeJob& job) const {
    return this->layout().template load<kTernaryLevel>(job.payload.data());
  }
};

/// Zero and +-level, in 2 bits or five to a byte.
class ThresholdCodec final : public TernaryBase<ThresholdCodec, ThresholdLayout> {
 public:
  explicit ThresholdCodec(bool base3) : TernaryBase(ThresholdLayout(base3)), base3_(base3) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return threshold_search_scratch(tensor.n);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t size = begin_encoding(job);
    const std::span<const float> data = job.tensor.data;
    const TernaryThreshold best = search_threshold(data, scratch, job.team);
    if (!std::isfinite(best.level)) require_finite(kName, job.tensor, kInfinityBits);
    write_header(job, best.level);
    const auto out = job.payload.subspan(at<kTernaryCodes>(data.size()));
    for_ranges(
        job.team, data.size(), kTritChunk, kRangeElements, [&](std::size_t begin, std::size_t end) {
          if (base3_)
            write_trits(data.subspan(begin, end - begin), best.lowest, out.subspan(begin / 5));
          else
            kernels::threshold_codes(data.data() + begin, end - begin, best.lowest,
                                     out.data() + begin / 4);
        });
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const std::size_t n = job.values.size(), codes_at = at<kTernaryCodes>(n);
    const float level = factor * level_of(job);
    for_ranges(job.team, n, kTritChunk, kRangeElements, [&](std::size_t begin, std::size_t end) {
      layout().section<kTernaryCodes>().for_codes<kTritChunk>(
          kName, job.payload, codes_at, begin, end,
          [&](const std::byte* codes, std::size_t first, std::size_t count) {
            return kernels::threshold_values(codes, count, level, output,
                                             job.values.data() + first);
          });
    });
  }

 private:
  static void write_trits(std::span<const float> data, std::uint32_t lowest,
                          std::span<std::byte> out) {
    std::byte codes[kTritChunk / 4];
    for (std::size_t at = 0; at < data.size(); at += kTritChunk) {
      const std::size_t count = std::min(kTritChunk, data.size() - at);
      kernels::threshold_codes(data.data() + at, count, lowest, codes);
      trits_from_codes(codes, count, out.subspan(at / 5));
    }
  }

  bool base3_;
};

/// 2^(b - 1) - 1 uniform levels on either side of zero, which has a dead zone.
class DeadZoneCodec final : public TernaryBase<DeadZoneCodec, DeadZoneLayout> {
 public:
  DeadZoneCodec(int bits, float dead_zone)
      : TernaryBase(DeadZoneLayout(bits)),
        bits_(bits),
        top_(layout().top()),
        dead_zone_(dead_zone) {}

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t size = begin_encoding(job);
    const std::span<const float> data = job.tensor.data;
    const std::uint32_t largest = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest);
    const DeadZoneGrid grid = dead_zone_grid(float_of(largest), top_, dead_zone_);
    write_header(job, grid.step);
    write_packed(job.team, data.size(), bits_, job.payload.subspan(at<kTernaryCodes>(data.size())),
                 [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                   return kernels::dead_zone_codes(data.data() + at, count, grid, codes);
                 });
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const std::size_t codes_at = at<kTernaryCodes>(job.values.size());
    const auto& section = layout().section<kTernaryCodes>();
    const float level = level_of(job);
    float table[256];
    for (std::uint32_t code = 0; code < 1u << bits_; ++code)
      table[code] = factor * dead_zone_value(code, level);
    const std::uint32_t seen =
        read_packed(job.team, job.payload.subspan(codes_at), bits_, table, output, job.values);
    if (!section.check.good(seen)) section.refuse_code(kName, job.payload, codes_at);
  }

 private:
  int bits_, top_;
  float dead_zone_;
};

CodecPtr make(const OptionValues& options) {
  const int bits = static_cast<int>(options.integer("bits"));
  const bool base3 = options.text("form") == "base3";
  if (bits == 2) return std::make_shared<ThresholdCodec>(base3);
  if (base3)
    throw Error(ErrorKind::kUsage, "make codec", "ternary", "base 3 holds three levels: bits 2");
  return std::make_shared<DeadZoneCodec>(bits, static_cast<float>(options.number("dead_zone")));
}

}  // namespace

CodecRow ternary_row() {
  const OptionSpec form = {.name = "form",
                           .type = OptionType::kChoice,
                           .default_text = "2bit",
                           .help = "2bit = two bits an element; base3 = five elements a byte",
                           .choices = {"2bit", "base3"}};
  const OptionSpec dead_zone = {
      .name = "dead_zone",
      .type = OptionType::kNumber,
      .default_text = "0.5",
      .help =
          "with more than 2 bits: what is below this share of a step becomes 0 (0.5 = nearest "
          "level)",
      .min = 0.5,
      .max = 1};
  return {{.name = std::string(kName),
           .summary = "0 or +-E: the ternary code of least error; or uniform levels of 3 to 8 bits "
                      "with a dead zone",
           .source = "Xu et al., QCMD and QRDA Adagrad, arXiv 2208.05631; ternary weights, arXiv "
                     "1605.04711",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {form,
                       bits_option("2", 2, 8,
                                   "2 = the least-error ternary code; 3 to 8 = uniform levels on "
                                   "+- the largest magnitude"),
                       dead_zone}},
          make};
}

}  // namespace gradwire::compressors
