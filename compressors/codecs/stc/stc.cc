#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/stc/layout.h"
#include "compressors/codecs/walked_codec.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/coding/golomb_walk.h"
#include "compressors/coding/index_walk.h"
#include "compressors/ordered_sum.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "stc";
constexpr std::size_t kLargest = 0xFFFFFFFFu;

/// Mean magnitude, rounded to a float once.
float mean_magnitude(std::span<const float> values) {
  if (values.empty()) return 0.0f;
  const double sum =
      ordered_sum(values.size(), [&](std::size_t i) { return double{std::fabs(values[i])}; });
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

float signed_mean(float mean, bool negative) {
  return float_of(bits_of(mean) ^ (negative ? 0x80000000u : 0u));
}

class StcCodec final : public WalkedCodec<StcCodec> {
 public:
  explicit StcCodec(const StcOptions& options) : rule_{options}, head_(rule_.layout()) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return rule_.most_bytes(tensor.n);
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return selection_scratch_size(tensor.n, rule_.entries(tensor.n));
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const std::size_t k = rule_.entries(job.tensor.data.size());
    const Selected selected = select_largest(kName, job.tensor, k, scratch, job.team);
    return write(job, selected, mean_magnitude(selected.values));
  }

  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    const std::size_t k = rule_.entries(job.tensor.data.size());
    const Selected selected = select_largest_of_sum(kName, job, residual, k, scratch);
    const float mean = mean_magnitude(selected.values);
    for (std::size_t i = 0; i < selected.values.size(); ++i) {
      const float value = selected.values[i];
      residual[selected.indices[i]] = value - signed_mean(mean, value < 0.0f);
    }
    return write(job, selected, mean);
  }

  auto open(const DecodeJob& job, std::span<std::byte>) const {
    return parts_of(job.payload, job.values.size());
  }
  template <class Opened, class Visit>
  void walk(const DecodeJob& job, const Opened& parts, Visit&& visit) const {
    const GolombWalk walk = golomb_walk(
        BitReader(job.payload.subspan(head_.size({}))), StcRule::gaps(job.values.size(), parts.k),
        parts.k, job.values.size(), [&](std::size_t, std::uint32_t index, std::uint32_t negative) {
          visit(index, float_of(parts.mean_bits ^ negative << 31));
        });
    require_end(job.payload, walk);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    check(payload, tensor, side);
    const Parts parts = parts_of(payload, tensor.n);
    const ShownGaps gaps{parts.k, StcRule::gaps(tensor.n, parts.k).b};
    return described(payload, rule_.layout(payload.size() - head_.size({}), gaps),
                     extent_of(tensor));
  }

 private:
  struct Parts {
    std::size_t k;
    std::uint32_t mean_bits;
  };

  std::size_t write(EncodeJob& job, const Selected& selected, float mean) const {
    const std::size_t n = job.tensor.data.size(), k = selected.values.size();
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(n));
    if (rule_.options.stored_count) head_.store<StcLayout::kCount>(job.payload, k);
    head_.store<StcLayout::kMean>(job.payload, mean);
    BitWriter out(job.payload.subspan(head_.size({})));
    const auto entry = [indices = selected.indices.data(),
                        values = selected.values.data()](std::size_t i) {
      return GolombEntry{indices[i], values[i] < 0.0f ? 1u : 0u};
    };
    golomb_write(out, StcRule::gaps(n, k), k, entry);
    return job.written = head_.size({}) + out.finish();
  }

  Parts parts_of(std::span<const std::byte> payload, std::size_t n) const {
    require_head(kName, payload, head_, {.n = n});
    if (n > kLargest) refuse_payload(kName, payload.size(), "the tensor is beyond 32-bit indices");
    const std::size_t k = rule_.options.stored_count ? head_.load<StcLayout::kCount>(payload.data())
                                                     : rule_.entries(n);
    return {k, bits_of(head_.load<StcLayout::kMean>(payload.data()))};
  }

  void require_end(std::span<const std::byte> payload, const GolombWalk& walk) const {
    const std::size_t byte = head_.size({}) + static_cast<std::size_t>(walk.bit_position / 8);
    if (walk.beyond_bytes)
      refuse_payload(kName, payload.size(), "it ends within entry " + std::to_string(walk.visited));
    if (walk.beyond_tensor) refuse_entry(kName, payload, byte, index_detail::kBeyond);
    require_size(kName, payload,
                 rule_.layout(static_cast<std::size_t>((walk.bit_position + 7) / 8)).size({}));
  }

  StcRule rule_;
  StcLayout head_;
};

OptionTable stc_options() {
  return {
      {.name = "ratio",
       .type = OptionType::kNumber,
       .default_text = "0.0025",
       .help = "share p of the elements that is sent; 1/400 as in arXiv 1903.02891",
       .min = 0,
       .max = 1,
       .min_exclusive = true},
      {.name = "count",
       .type = OptionType::kChoice,
       .default_text = "floor",
       .help = "k = max(1, floor(p n)) as in the paper, or ceil as in its released simulator",
       .choices = {"floor", "ceil"}},
      {.name = "stored_count",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .help = "whether the payload begins with k (u32), or the decoder derives it from p and n"}};
}

}  // namespace

CodecRow stc_row() {
  return {{.name = std::string(kName),
           .summary = "the k largest as one mean magnitude with signs; Golomb-Rice gaps",
           .source = "Sattler et al., Sparse Ternary Compression, arXiv 1903.02891",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = stc_options(),
           .family = CodecFamily::kSparse},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<StcCodec>(StcOptions{options.number("ratio"),
                                                         options.text("count") == "ceil",
                                                         options.boolean("stored_count")});
          }};
}

}  // namespace gradwire::compressors
