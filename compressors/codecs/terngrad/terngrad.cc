#include <algorithm>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/terngrad/kernel.h"
#include "compressors/codecs/terngrad/ternary_terms.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"
#include "compressors/tensor_moments.h"
#include "compressors/trits.h"

namespace gradwire::compressors {
namespace {

using kernels::Output;

constexpr std::string_view kName = "terngrad";
constexpr std::size_t kScaleBytes = 4;
// Elements of whole bytes at 2 bits and at 5 a byte, whose codes stay in the first-level cache.
constexpr std::size_t kTritChunk = 5120;

struct TernGradOptions {
  double clip = 2.5;
  bool released = false;
  bool base3 = false;
  bool one_scaler = false;
};

/// f32 s, then codes t + 1: at 2 bits, LSB first, 4 + ceil(n / 4) bytes; or in base 3, five a byte,
/// 4 + ceil(n / 5) bytes.
class TernGradCodec final : public Codec {
 public:
  explicit TernGradCodec(const TernGradOptions& options) : options_(options), terms_(kName) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kSum; }
  bool wants_shared_scale() const override { return true; }
  bool one_scale_for_all() const override { return options_.one_scaler; }
  float local_scale(const TensorView& tensor) const override { return own_scale(tensor, nullptr); }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kScaleBytes + code_bytes(tensor.n);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    if (options_.base3) return std::nullopt;  // five elements share a byte
    return PackedElements{kScaleBytes, 2};
  }
  const SumTerms* sum_terms() const override { return &terms_; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t n = job.tensor.data.size();
    const std::size_t size = max_encoded_size(n);
    GRADWIRE_ASSERT(job.payload.size() >= size);
    require_draws(kName, job.tensor, job.draws);
    const float scale = job.side.shared_scale < 0.0f
                            ? own_scale(job.tensor, job.team)
                            : checked_shared_scale(kName, job.tensor, job.side.shared_scale);
    store_field(job.payload, 0, scale);
    const TernaryRule rule = ternary_rule(scale);
    const std::uint32_t largest =
        largest_over_ranges(job.team, n, range_multiple(), [&](std::size_t begin, std::size_t end) {
          return write_codes(job, begin, end - begin, rule, job.payload.subspan(kScaleBytes));
        });
    require_finite(kName, job.tensor, largest);
    return job.written = size;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, kernels::output_of(job.values.size_bytes()), checked_scale(job.payload, job.spec()));
  }

  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, Output::kAdd, factor * checked_scale(job.payload, job.spec()));
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    const float scale = checked_scale(payload, tensor);
    std::vector<float> values(tensor.n);
    read({.payload = payload, .values = values}, Output::kStore, scale);
    const auto term = [&](std::size_t i) {
      const bool zero = values[i] == 0.0f, negative = values[i] < 0.0f;
      return std::string(zero ? "0" : negative ? "-1" : "+1");
    };
    return {{0, kScaleBytes, "scale", "f32", float_text(scale)},
            {kScaleBytes, payload.size() - kScaleBytes, "codes t + 1",
             options_.base3 ? "base 3, five a byte" : code_array(2, tensor.n),
             scale > 0.0f ? "t = " + first_few(tensor.n, term) : std::string("of scale 0")}};
  }

 private:
  std::size_t code_bytes(std::size_t n) const {
    return options_.base3 ? trit_bytes(n) : packed_bytes(n, 2);
  }
  std::size_t code_offset(std::size_t element) const {
    return options_.base3 ? element / 5 : element / 4;
  }
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
      trits_from_codes(codes, count, out.subspan(code_offset(at)));
    }
    return largest;
  }

  float checked_scale(std::span<const std::byte> payload, const TensorSpec& tensor) const {
    require_size(kName, payload, max_encoded_size(tensor));
    const float scale = load_field<float>(payload, 0);
    if (!std::isfinite(scale) || std::signbit(scale))
      refuse_payload(kName, payload.size(), "byte 0 begins a scale that is not finite and >= 0");
    return scale;
  }

  void read(const DecodeJob& job, Output output, float scale) const {
    const auto codes = job.payload.subspan(kScaleBytes);
    for_ranges(job.team, job.values.size(), range_multiple(), kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 const auto values = job.values.subspan(begin, end - begin);
                 if (options_.base3)
                   read_trits(job.payload, begin, values, output, scale);
                 else if (kernels::ternary_values(codes.data() + begin / 4, values.size(), scale,
                                                  output, values.data()))
                   refuse_code_three(job.payload, job.values.size());
               });
  }

  void read_trits(std::span<const std::byte> payload, std::size_t begin, std::span<float> values,
                  Output output, float scale) const {
    std::byte codes[kTritChunk / 4];
    for (std::size_t at = 0; at < values.size(); at += kTritChunk) {
      const auto part = values.subspan(at, std::min(kTritChunk, values.size() - at));
      const std::size_t offset = kScaleBytes + code_offset(begin + at);
      const std::size_t bad = codes_from_trits(payload.subspan(offset), part.size(), codes);
      if (bad < trit_bytes(part.size()))
        refuse_payload(kName, payload.size(),
                       "byte " + std::to_string(offset + bad) + " is above 242, five codes of 2");
      kernels::ternary_values(codes, part.size(), scale, output, part.data());
    }
  }

  [[noreturn]] static void refuse_code_three(std::span<const std::byte> payload, std::size_t n) {
    const std::size_t byte = first_code_above(payload.subspan(kScaleBytes), 2, n, 2) / 4;
    refuse_payload(kName, payload.size(),
                   "byte " + std::to_string(kScaleBytes + byte) + " holds code 3");
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
