#include <cmath>
#include <limits>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/codecs/ternary/kernel.h"
#include "compressors/codecs/ternary/threshold_search.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"
#include "compressors/trits.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "ternary";
constexpr std::size_t kCodes = 8;         ///< byte at which the codes begin
constexpr std::size_t kTritChunk = 2560;  ///< elements; whole bytes of bits, of trits, of vectors

/// n u32, level f32, then codes.
class TernaryBase : public Codec {
 public:
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kCodes + code_bytes(tensor.n);
  }
  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    const float level = checked_level(job.payload, job.values.size());
    read(job, level, kernels::output_of(job.values.size_bytes()));
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    const float level = checked_level(job.payload, job.values.size());
    read_add(job, level, factor);
  }

 protected:
  virtual std::size_t code_bytes(std::size_t n) const = 0;
  virtual float largest_multiple() const { return 1.0f; }
  virtual void read(const DecodeJob& job, float level, kernels::Output output) const = 0;
  virtual void read_add(const DecodeJob& job, float level, float factor) const = 0;

  void write_header(const EncodeJob& job, float level) const {
    store_field(job.payload, 0, static_cast<std::uint32_t>(job.tensor.data.size()));
    store_field(job.payload, 4, level);
  }
  void require_room(const EncodeJob& job) const {
    GRADWIRE_ASSERT(job.payload.size() >= max_encoded_size(job.tensor));
    if (job.tensor.data.size() > std::numeric_limits<std::uint32_t>::max())
      refuse_tensor(kName, job.tensor.name, "it has more elements than a 32-bit count can say");
  }

  float checked_level(std::span<const std::byte> payload, std::size_t n) const {
    require_size(kName, payload, kCodes + code_bytes(n));
    const auto count = load_field<std::uint32_t>(payload, 0);
    if (count != n)
      refuse_payload(kName, payload.size(),
                     "byte 0 begins a count of " + std::to_string(count) + " for " +
                         std::to_string(n) + " elements");
    const float level = load_field<float>(payload, 4);
    if (!std::isfinite(level * largest_multiple()) || std::signbit(level))
      refuse_payload(kName, payload.size(), "byte 4 begins a level that is not finite and >= 0");
    return level;
  }
  std::vector<PayloadField> header_fields(std::span<const std::byte> payload, std::size_t n) const {
    return {{0, 4, "n", "u32", std::to_string(n)}, float_field(payload, 4, "level")};
  }
};

/// Zero and +-level, in 2 bits or five to a byte.
class ThresholdCodec final : public TernaryBase {
 public:
  explicit ThresholdCodec(bool base3) : base3_(base3) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return threshold_search_scratch(tensor.n);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    require_room(job);
    const std::span<const float> data = job.tensor.data;
    const TernaryThreshold best = search_threshold(data, scratch, job.team);
    if (!std::isfinite(best.level)) require_finite(kName, job.tensor, kInfinityBits);
    write_header(job, best.level);
    const auto out = job.payload.subspan(kCodes);
    for_ranges(
        job.team, data.size(), kTritChunk, kRangeElements, [&](std::size_t begin, std::size_t end) {
          if (base3_)
            write_trits(data.subspan(begin, end - begin), best.lowest, out.subspan(begin / 5));
          else
            kernels::threshold_codes(data.data() + begin, end - begin, best.lowest,
                                     out.data() + begin / 4);
        });
    return job.written = max_encoded_size(job.tensor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    checked_level(payload, tensor.n);
    auto fields = header_fields(payload, tensor.n);
    std::byte first[2] = {};
    const std::size_t shown = std::min<std::size_t>(tensor.n, 8);
    if (base3_) {
      codes_from_trits(payload.subspan(kCodes), shown, first);
      PayloadField field =
          code_field(first, kCodes, shown, 2, kernels::BitOrder::kLowFirst, "codes");
      field.bytes = payload.size() - kCodes;
      field.type = counted("base-3", tensor.n) + ", five a byte";
      if (tensor.n > shown) field.value += " ...";
      fields.push_back(std::move(field));
    } else {
      fields.push_back(code_field(payload.subspan(kCodes), kCodes, tensor.n, 2,
                                  kernels::BitOrder::kLowFirst, "codes"));
    }
    return fields;
  }

 private:
  std::size_t code_bytes(std::size_t n) const override {
    return base3_ ? trit_bytes(n) : packed_bytes(n, 2);
  }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    if (base3_) return std::nullopt;  // five elements share a byte
    return PackedElements{kCodes, 2};
  }

  static void write_trits(std::span<const float> data, std::uint32_t lowest,
                          std::span<std::byte> out) {
    std::byte codes[kTritChunk / 4];
    for (std::size_t at = 0; at < data.size(); at += kTritChunk) {
      const std::size_t count = std::min(kTritChunk, data.size() - at);
      kernels::threshold_codes(data.data() + at, count, lowest, codes);
      trits_from_codes(codes, count, out.subspan(at / 5));
    }
  }

  void read(const DecodeJob& job, float level, kernels::Output output) const override {
    for_ranges(job.team, job.values.size(), kTritChunk, kRangeElements,
               [&](std::size_t begin, std::size_t end) {
                 const auto values = job.values.subspan(begin, end - begin);
                 if (base3_)
                   read_trits(job.payload, begin, values, level, output);
                 else if (kernels::threshold_values(job.payload.data() + kCodes + begin / 4,
                                                    values.size(), level, output, values.data()))
                   require_codes(kName, job.payload, kCodes, job.values.size(), 2, 3, 2);
               });
  }
  void read_add(const DecodeJob& job, float level, float factor) const override {
    read(job, factor * level, kernels::Output::kAdd);
  }

  static void read_trits(std::span<const std::byte> payload, std::size_t begin,
                         std::span<float> values, float level, kernels::Output output) {
    std::byte codes[kTritChunk / 4];
    for (std::size_t at = 0; at < values.size(); at += kTritChunk) {
      const auto part = values.subspan(at, std::min(kTritChunk, values.size() - at));
      const std::size_t offset = kCodes + (begin + at) / 5;
      const std::size_t bad = codes_from_trits(payload.subspan(offset), part.size(), codes);
      if (bad < trit_bytes(part.size()))
        refuse_payload(kName, payload.size(),
                       "byte " + std::to_string(offset + bad) + " is above 242, five codes of 2");
      kernels::threshold_values(codes, part.size(), level, output, part.data());
    }
  }

  bool base3_;
};

/// 2^(b - 1) - 1 uniform levels on either side of zero, which has a dead zone.
class DeadZoneCodec final : public TernaryBase {
 public:
  DeadZoneCodec(int bits, float dead_zone)
      : bits_(bits), top_((1 << (bits - 1)) - 1), dead_zone_(dead_zone) {}

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    require_room(job);
    const std::span<const float> data = job.tensor.data;
    const std::uint32_t largest = shared_magnitude(job.team, data);
    require_finite(kName, job.tensor, largest);
    const DeadZoneGrid grid = dead_zone_grid(float_of(largest), top_, dead_zone_);
    write_header(job, grid.step);
    write_packed(job.team, data.size(), bits_, job.payload.subspan(kCodes),
                 [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                   return kernels::dead_zone_codes(data.data() + at, count, grid, codes);
                 });
    return job.written = max_encoded_size(job.tensor);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    checked_level(payload, tensor.n);
    auto fields = header_fields(payload, tensor.n);
    fields.push_back(code_field(payload.subspan(kCodes), kCodes, tensor.n, bits_,
                                kernels::BitOrder::kLowFirst, "codes"));
    return fields;
  }

 private:
  std::size_t code_bytes(std::size_t n) const override { return packed_bytes(n, bits_); }
  std::optional<PackedElements> packed_elements(const TensorSpec&) const override {
    return PackedElements{kCodes, bits_};
  }
  float largest_multiple() const override { return static_cast<float>(top_); }
  void read(const DecodeJob& job, float level, kernels::Output output) const override {
    read_with(job, level, 1.0f, output);
  }
  void read_add(const DecodeJob& job, float level, float factor) const override {
    read_with(job, level, factor, kernels::Output::kAdd);
  }
  void read_with(const DecodeJob& job, float level, float factor, kernels::Output output) const {
    float table[256];
    for (std::uint32_t code = 0; code < 1u << bits_; ++code)
      table[code] = factor * dead_zone_value(code, level);
    const std::uint32_t seen =
        read_packed(job.team, job.payload.subspan(kCodes), bits_, table, output, job.values);
    require_codes(kName, job.payload, kCodes, job.values.size(), bits_, seen,
                  2 * static_cast<std::uint32_t>(top_));
  }

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
