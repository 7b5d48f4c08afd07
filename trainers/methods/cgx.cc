#include <cmath>

#include "base/exact_text.h"
#include "trainers/methods/cgx_bits.h"
#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// CGX (Markov and others, arXiv 2111.08617). Gradients are all-reduced by scatter-reduce and
/// all-gather: each worker quantises the others' chunks for their owners, who add, quantise the sum
/// once and send it to all, so that an element is rounded twice however many workers there are.
/// Of each bucket of B values of a layer,
///
///   unit = (max - min) / (2^b - 1);  level = floor((x - min) / unit + r)
///
/// r = 1/2, or drawn. Layers of one dimension or with fewer than 1,024 elements go as fp32. With
/// `adapt_every` the bits b of each layer follow the mean gradients of the last so many steps
/// (cgx_bits.h); before the first decision they are `bits`. Means are equal at all workers, and so
/// is what each derives: no table is sent.
namespace gradwire::methods {
namespace {

constexpr std::size_t kQuantised = 0, kWhole = 1;  // sets
constexpr const char* kCgxCodec = "minmax";

/// |values - Q_b(values)|^2 and the norm.
LayerError error_of(std::span<const float> values, const compressors::CodecChoice& choice) {
  LayerError layer{.elements = static_cast<double>(values.size())};
  double norm = 0;
  for (const float value : values) norm += static_cast<double>(value) * static_cast<double>(value);
  layer.norm = std::sqrt(norm);
  for (int bits = kFewestBits; bits <= kMostBits; ++bits) {
    compressors::CodecChoice own = choice;
    own.options["bits"] = std::to_string(bits);
    const auto codec = compressors::make_codec(own.name, own.options);
    const std::size_t n = values.size();
    std::vector<std::byte> payload(codec->max_encoded_size(n));
    std::vector<std::uint64_t> words((codec->scratch_size(n) + 7) / 8);
    const auto scratch = std::as_writable_bytes(std::span(words));
    const std::int64_t shape[] = {static_cast<std::int64_t>(n)};
    compressors::EncodeJob job{.tensor = {"", shape, values}, .payload = payload};
    const std::size_t size = codec->encode(job, scratch);
    std::vector<float> rest(values.begin(), values.end());
    codec->decode_accumulate({.payload = std::span(payload).first(size), .values = rest}, -1.0f,
                             scratch);
    double error = 0;
    for (const float value : rest) error += static_cast<double>(value) * static_cast<double>(value);
    layer.error[static_cast<std::size_t>(bits)] = error;
  }
  return layer;
}

class Cgx final : public Method {
 public:
  explicit Cgx(const MethodSettings& settings)
      : codec_(codec_choice(kCgxCodec, settings.options)),
        whole_below_(settings.options.integer("whole_below")),
        adapt_every_(settings.options.integer("adapt_every")),
        alpha_(settings.options.number("alpha")),
        error_feedback_(settings.error_feedback) {}

  std::size_t sets() const override { return whole_below_ > 0 ? 2 : 1; }
  /// A layer whose tensors are not known is mostly weights.
  std::size_t set_of(const TensorInfo& tensor) const override {
    if (whole_below_ == 0 || tensor.shape.empty()) return kQuantised;
    std::int64_t elements = 1;
    for (const std::int64_t extent : tensor.shape) elements *= extent;
    return tensor.shape.size() < 2 || elements < whole_below_ ? kWhole : kQuantised;
  }
  SetPlan plan(std::size_t set, std::size_t) const override {
    SetPlan plan;
    if (set == kWhole) return plan;
    plan.up.codec = codec_;
    plan.up.error_feedback = error_feedback_;
    return plan;
  }

  std::int64_t decides_every() const override { return adapt_every_; }
  std::vector<int> decide(std::span<const TensorInfo> tensors,
                          std::span<const std::span<const float>> sums) const override {
    std::vector<LayerError> layers;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (set_of(tensors[t]) == kQuantised) layers.push_back(error_of(sums[t], codec_));
    const std::vector<int> chosen = choose_bits(layers, alpha_);
    std::vector<int> bits(tensors.size());  // 0: not quantised
    for (std::size_t t = 0, l = 0; t < tensors.size(); ++t)
      if (set_of(tensors[t]) == kQuantised) bits[t] = chosen[l++];
    return bits;
  }
  SetPlan decided_plan(std::size_t set, std::size_t phase, std::span<const TensorInfo> tensors,
                       std::span<const int> decided) const override {
    SetPlan own = plan(set, phase);
    for (std::size_t t = 0; set == kQuantised && t < tensors.size(); ++t) {
      if (decided[t] == 0) continue;
      compressors::CodecChoice codec = codec_;
      codec.options["bits"] = std::to_string(decided[t]);
      own.up.rules.push_back({.tensors = {.names = std::string(tensors[t].name)}, .codec = codec});
    }
    return own;
  }

 private:
  compressors::CodecChoice codec_;
  std::int64_t whole_below_, adapt_every_;
  double alpha_;
  bool error_feedback_;
};

OptionTable options_of_cgx() {
  OptionTable table = codec_options(kCgxCodec);
  table.push_back({.name = "whole_below",
                   .type = OptionType::kInteger,
                   .default_text = "1024",
                   .help = "Tensors with fewer elements, or one dimension, go as fp32; 0: none.",
                   .min = 0,
                   .max = 1e12});
  table.push_back({.name = "adapt_every",
                   .type = OptionType::kInteger,
                   .default_text = "0",
                   .help = "Steps after which bits are chosen anew, by layer; 0: `bits` for all.",
                   .min = 0,
                   .max = 1e9});
  table.push_back({.name = "alpha",
                   .type = OptionType::kNumber,
                   .default_text = "1",
                   .help = "With adapt_every: the most squared error, as a multiple of that of 4 "
                           "bits everywhere.",
                   .min = 0,
                   .max = 1000,
                   .min_exclusive = true});
  return table;
}

}  // namespace

MethodRow cgx_row() {
  return {.name = "cgx",
          .summary = "buckets between their minimum and maximum, bits by layer",
          .paper = "Markov and others, CGX, arXiv 2111.08617",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, direct, scatter-reduce, parameter-server",
          .sends =
              "large layers: a unit and a minimum a bucket and 1 to 8 bits an element; others: "
              "fp32",
          .page = "methods/cgx.md",
          .options = options_of_cgx(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<Cgx>(settings);
          }};
}

}  // namespace gradwire::methods
