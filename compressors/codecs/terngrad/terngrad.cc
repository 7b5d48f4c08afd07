#include <algorithm>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/terngrad/kernel.h"
#include "compressors/codecs/terngrad/layout.h"
#include "compressors/codecs/terngrad/ternary_terms.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/tensor_moments.h"
#include "compressors/trits.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "terngrad";
// Elements of whole bytes at 2 bits and at 5 a byte, whose codes stay in the first-level cache.
constexpr std::size_t kTritChunk = 5120;

struct TernGradOptions {
  double clip = 2.5;
  bool released = false;
  bool base3 = false;
  bool one_scaler = false;
};

class TernGradCodec final : public LaidOutCodec<TernGradCodec, TernGradLayout> {
 public:
  explicit TernGradCodec(const TernGradOptions& options)
      : LaidOutCodec(TernGradLayout(options.base3)), options_(options), terms_(kName) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  bool wants_shared_scale() const override { return true; }
  bool one_scale_for_all() const override { return options_.one_scaler; }
  float local_scale(const TensorView& tensor) const override { return own_scale(tensor, nullptr); }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    const std::size_t size = begin_encoding(job);
    require_draws(kName, job.tensor, job.draws);
    const float scale = job.side.shared_scale < 0.0f
                            ? own_scale(job.tensor, job.team)
                            : checked_shared_scale(kName, job.tensor.name, job.side.shared_scale);
    layout().store<TernGradLayout::kScale>(job.payload, scale);
    const TernaryRule rule = ternary_rule(scale);
    const std::uint32_t largest =
        largest_over_ranges(job.team, n, range_multiple(), [&](std::size_t begin, std::size_t end) {
          return write_codes(job, begin, end - begin, rule,
                             job.payload.subspan(at<TernGradLayout::kCodes>(n)));
        });
    require_finite(kName, job.tensor, largest);
    return job.written = size;
  }

  void read(const DecodeJob& job, Output output, float factor, std::span<std::byte>) const {
    const std::size_t n = job.values.size(), codes_at = at<TernGradLayout::kCodes>(n);
    const auto& section = layout().section<TernGradLayout::kCodes>();
    const float scale = factor * layout().load<TernGradLayout::kScale>(job.payload.data());
    for_ranges(job.team, n, range_multiple(), kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 section.for_codes<kTritChunk>(
                     kName, job.payload, codes_at, begin, end,
                     [&](const std::byte* codes, std::size_t first, std::size_t count) {
                       return kernels::ternary_values(codes, count, scale, output,
                                                      job.values.data() + first);
                     });
               });
  }

  void show(const std::vector<float>& decoded, std::vector<PayloadField>& fields) const {
    const auto term = [&](std::size_t i) {
      return std::string(decoded[i] == 0.0f ? "0" : decoded[i] < 0.0f ? "-1" : "+1");
    };
    const bool zero = fields[TernGradLayout::kScale].value == "0";
    fields[TernGradLayout::kCodes].value =
        zero ? "of scale 0" : "t = " + first_few(decoded.size(), term);
  }

 private:
  std::size_t range_multiple() const { return options_.base3 ? kTritChunk : kRangeMultiple; }

  /// Refuses values that are not finite.
  float own_scale(const TensorView& tensor, ThreadTeam* team) const {
    const std::span<const float> data = tensor.data;
    if (data.empty()) return 0.0f;
    const auto moments = tensor_moments(team, data, double{data[0]});
    require_finite(kName, tensor, moments.max_magnitude);
    const auto rule = options_.released ? ternary_released_scale : ternary_scale;
    return rule(moments.sum, moments.sum_squares, float_of(moments.max_magnitude), data.size(),
                options_.clip);
  }

  /// Codes of elements [begin, begin + n), begin a multiple of range_multiple(), at their place;
  /// returns the largest magnitude bits.
  std::uint32_t write_codes(const EncodeJob& job, std::size_t begin, std::size_t n,
                            TernaryRule rule, std::span<std::byte> out) const {
    const float* values = job.tensor.data.data();
    if (!options_.base3)
      return kernels::ternary_codes(values + begin, n, job.draws, begin, rule,
                                    out.data() + begin / 4);
    std::uint32_t largest = 0;
    std::byte codes[kTritChunk / 4];
    for (std::size_t at = begin; at < begin + n; at += kTritChunk) {
      const std::size_t count = std::min(kTritChunk, begin + n - at);
      largest =
          std::max(largest, kernels::ternary_codes(values + at, count, job.draws, at, rule, codes));
      trits_from_codes(codes, count, out.subspan(at / 5));
    }
    return largest;
  }

  TernGradOptions options_;
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
  const OptionSpec scale = {
      .name = "scale",
      .type = OptionType::kChoice,
      .default_text = "largest",
      .help =
          "the scale is the largest magnitude after clipping (the paper), or clip standard "
          "deviations whether a value reaches them or not (the released code)",
      .choices = {"largest", "released"}};
  const OptionSpec code = {
      .name = "code",
      .type = OptionType::kChoice,
      .default_text = "2bit",
      .help = "2 bits an element, or five elements a byte in base 3 (1.6 bits)",
      .choices = {"2bit", "base3"}};
  const OptionSpec scaler = {
      .name = "scaler",
      .type = OptionType::kChoice,
      .default_text = "tensor",
      .help =
          "one scale for each tensor (the paper's layer-wise scaling), or one for all tensors of a "
          "bucket, the largest of theirs, in exchanges that add messages up",
      .choices = {"tensor", "bucket"}};
  return {{.name = std::string(kName),
           .summary = "ternary values -s, 0, s in 2 bits, chosen at random with the right mean",
           .source = "Wen et al., TernGrad, arXiv 1705.07878",
           .policy = AggregatePolicy::kSum,
           .unbiased = false,
           .options = {clip, scale, code, scaler}},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<TernGradCodec>(
                TernGradOptions{.clip = options.number("clip"),
                                .released = options.text("scale") == "released",
                                .base3 = options.text("code") == "base3",
                                .one_scaler = options.text("scaler") == "bucket"});
          }};
}

}  // namespace gradwire::compressors
