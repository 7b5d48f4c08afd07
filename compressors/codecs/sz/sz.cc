#include <algorithm>
#include <limits>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/sz/sz_encoder.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kMostDimensions = 255;

void require_shape(const TensorView& tensor) {
  require_countable(kSzName, tensor.name, tensor.data.size());
  if (tensor.shape.size() > kMostDimensions)
    refuse_tensor(kSzName, tensor.name, "it has more than 255 dimensions");
  for (const std::int64_t dimension : tensor.shape)
    if (dimension < 0 || dimension > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kSzName, tensor.name,
                    "a dimension of " + std::to_string(dimension) + " does not fit 32 bits");
}

/// Error-bounded: |x - x'| <= eb (1 + 1e-6) + ulp(x') for every element; zeros stay zero.
class SzCodec final : public Codec {
 public:
  explicit SzCodec(const SzOptions& options) : options_(options) {}
  std::string_view name() const override { return kSzName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    SzBlock raw;
    raw.dimensions = std::max<std::size_t>(tensor.shape.size(), 1);
    const SzLayout head(raw, SzLayout::Known::kShape);
    return static_cast<std::size_t>(head.size({}) + SentValues{.count = {tensor.n}}.bytes({})) +
           kSzOverhead;
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return std::max(sz_encode_scratch(tensor.n, options_.radius), sz_decode_scratch(tensor.n));
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
    require_shape(job.tensor);
    return job.written = encode_sz(options_, job, scratch);
  }
  void decode(const DecodeJob& job, std::span<std::byte> scratch) const override {
    decode_sz(job, {}, scratch);
  }
  void decode_accumulate(const DecodeJob& job, float factor,
                         std::span<std::byte> scratch) const override {
    decode_sz(job, factor, scratch);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs& side) const override {
    std::vector<float> values(tensor.n);
    std::vector<std::uint64_t> scratch(sz_decode_scratch(tensor.n) / 8 + 1);
    decode({.payload = payload, .side = side, .values = values},
           std::as_writable_bytes(std::span(scratch)));
    return described(payload, SzLayout(read_sz_head(payload, tensor.n)), extent_of(tensor));
  }

 private:
  SzOptions options_;
};

OptionTable sz_options() {
  return {{.name = "bound",
           .type = OptionType::kNumber,
           .default_text = "0.001",
           .help = "largest error of a value, in the sense of `mode`; 0 = lossless",
           .min = 0},
          {.name = "mode",
           .type = OptionType::kChoice,
           .default_text = "relative",
           .help = "whether the bound is absolute or relative to the tensor's range, max - min",
           .choices = {"absolute", "relative"}},
          {.name = "predictor",
           .type = OptionType::kChoice,
           .default_text = "auto",
           .help = "Lorenzo prediction from neighbours; auto = what gives the smallest block",
           .choices = {"auto", "none", "1d", "2d"}},
          {.name = "radius",
           .type = OptionType::kInteger,
           .default_text = "512",
           .help = "differences of this size or more are stored apart (cuSZ and COMET: 512)",
           .min = 1,
           .max = kSzLargestRadius},
          {.name = "zero_runs",
           .type = OptionType::kChoice,
           .default_text = "auto",
           .help = "code runs of zeros where that is smaller, or never: plain Huffman codes, which "
                   "cannot pass 32 times",
           .choices = {"auto", "never"}}};
}

SzOptions options_from(const OptionValues& values) {
  SzOptions options;
  options.bound = values.number("bound");
  options.relative = values.text("mode") == "relative";
  options.radius = static_cast<std::uint32_t>(values.integer("radius"));
  options.zero_runs = values.text("zero_runs") == "auto";
  const std::string& predictor = values.text("predictor");
  if (predictor != "auto") options.predictor = predictor == "none" ? 0 : predictor == "1d" ? 1 : 2;
  return options;
}

}  // namespace

CodecRow sz_row() {
  return {{.name = std::string(kSzName),
           .summary = "error-bounded: quantised, predicted from neighbours, Huffman-coded",
           .source = "Jin et al., COMET, arXiv 2111.09562; Tian et al., cuSZ, arXiv 2007.09625",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = sz_options(),
           .family = CodecFamily::kActivations},
          [](const OptionValues& values) -> CodecPtr {
            return std::make_shared<SzCodec>(options_from(values));
          }};
}

}  // namespace gradwire::compressors
