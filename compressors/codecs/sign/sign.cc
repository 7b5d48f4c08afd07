#include <algorithm>
#include <cmath>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/sign/arithmetic.h"
#include "compressors/codecs/sign/kernel.h"
#include "compressors/field_text.h"
#include "compressors/ordered_sum.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "sign";
constexpr std::size_t kScaleBytes = 4;

constexpr std::size_t bit_bytes(std::size_t n) {
  return n / 8 + (n % 8 != 0 ? 1 : 0);
}

/// Where the blocks of a tensor begin, in elements, bytes and sums. A block is f32 mu (with
/// scales), then its bits.
struct Blocks {
  std::size_t n = 0, length = 0, header = 0;

  std::size_t count() const { return n == 0 ? 0 : (n - 1) / length + 1; }
  std::size_t size() const {
    return count() == 0 ? 0 : (count() - 1) * stride() + header + bit_bytes(elements(count() - 1));
  }
  std::size_t elements(std::size_t b) const { return std::min(length, n - b * length); }
  std::size_t offset(std::size_t b) const { return b * stride(); }
  std::size_t sums() const { return count() * sum_blocks(length); }

 private:
  std::size_t stride() const { return header + bit_bytes(length); }
};

/// body(b, begin, end) for parts of blocks: of one block's elements, or whole blocks of many.
template <class Body>
void for_parts(ThreadTeam* team, const Blocks& blocks, Body&& body) {
  if (blocks.count() <= 1) {
    if (blocks.n > 0)
      for_ranges(team, blocks.n, kSumBlock, kRangeElements,
                 [&](std::size_t begin, std::size_t end) { body(0, begin, end); });
    return;
  }
  const std::size_t smallest = std::max<std::size_t>(1, kRangeElements / blocks.length);
  for_ranges(team, blocks.count(), 1, smallest, [&](std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; ++b) body(b, std::size_t{0}, blocks.elements(b));
  });
}

double total_of(std::span<const double> sums) {
  PairwiseSum total;
  for (const double sum : sums) total.add(sum);
  return total.total();
}

[[noreturn]] void refuse_overflow(const TensorView& tensor, std::span<const float> residual) {
  std::size_t e = 0;
  while (std::isfinite(tensor.data[e] + residual[e])) ++e;
  refuse_tensor(kName, tensor.name,
                "the tensor and its residual overflow at element " + std::to_string(e));
}

class SignCodec final : public Codec {
 public:
  SignCodec(std::size_t block, bool scaled) : block_(block), scaled_(scaled) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return blocks_of(tensor.n).size();
  }
  std::optional<PackedElements> packed_elements(const TensorSpec& tensor) const override {
    const Blocks blocks = blocks_of(tensor.n);
    if (blocks.count() > 1) return std::nullopt;  // scales stand between the bits
    return PackedElements{blocks.header, 1};
  }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return blocks_of(tensor.n).sums() * sizeof(double);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const override {
    const float* values = job.tensor.data.data();
    return write(job, {}, scratch,
                 [=](std::size_t at, std::size_t n, std::byte* bits, double* sums) {
                   kernels::sign_bits(values + at, n, bits, sums);
                 });
  }

  /// Two passes: the first only reads, so that a tensor that is refused changes nothing; the second
  /// updates the residual. Same bytes and residual as the general way.
  std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                   std::span<std::byte> scratch) const override {
    GRADWIRE_ASSERT(residual.size() == job.tensor.data.size());
    const float* values = job.tensor.data.data();
    write(job, residual, scratch,
          [=](std::size_t at, std::size_t n, std::byte* bits, double* sums) {
            kernels::sign_bits_of_sum(values + at, residual.data() + at, n, bits, sums);
          });
    const Blocks blocks = blocks_of(job.tensor.data.size());
    for_parts(job.team, blocks, [&](std::size_t b, std::size_t begin, std::size_t end) {
      const std::size_t at = b * blocks.length + begin;
      kernels::sign_residual(values + at, end - begin, scale_of(job.payload, blocks, b),
                             residual.data() + at);
    });
    return job.written;
  }

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, 1.0f, kernels::output_of(job.values.size_bytes()));
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, factor, kernels::Output::kAdd);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    const Blocks blocks = checked(payload, tensor.n);
    std::vector<PayloadField> fields;
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const std::size_t at = blocks.offset(b), n = blocks.elements(b);
      const std::string which = blocks.count() > 1 ? counted("", b) : "";
      if (scaled_)
        fields.push_back(
            {at, kScaleBytes, "mu" + which, "f32", float_text(scale_of(payload, blocks, b))});
      fields.push_back({at + blocks.header, bit_bytes(n), "signs" + which, code_array(1, n),
                        signs_text(payload.subspan(at + blocks.header), n)});
    }
    return fields;
  }

 private:
  Blocks blocks_of(std::size_t n) const {
    const std::size_t length = block_ == 0 ? std::max<std::size_t>(n, 1) : block_;
    return {n, std::min(length, std::max<std::size_t>(n, 1)), scaled_ ? kScaleBytes : 0};
  }

  float scale_of(std::span<const std::byte> payload, const Blocks& blocks, std::size_t b) const {
    return scaled_ ? load_field<float>(payload, blocks.offset(b)) : 1.0f;
  }

  // kernel(at, n, bits, sums) encodes elements [at, at + n).
  template <class Kernel>
  std::size_t write(EncodeJob& job, std::span<const float> residual, std::span<std::byte> scratch,
                    Kernel&& kernel) const {
    const Blocks blocks = blocks_of(job.tensor.data.size());
    GRADWIRE_ASSERT(job.payload.size() >= blocks.size());
    const auto sums = view_as<double>(scratch, blocks.sums());
    const std::size_t stride = sum_blocks(blocks.length);
    for_parts(job.team, blocks, [&](std::size_t b, std::size_t begin, std::size_t end) {
      std::byte* bits = job.payload.data() + blocks.offset(b) + blocks.header;
      kernel(b * blocks.length + begin, end - begin, bits + begin / 8,
             sums.data() + b * stride + begin / kSumBlock);
    });
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const std::size_t n = blocks.elements(b);
      const double sum = total_of(sums.subspan(b * stride, sum_blocks(n)));
      if (!std::isfinite(sum)) refuse(job.tensor, residual);
      if (scaled_) store_field(job.payload, blocks.offset(b), block_sign_scale(sum, n));
    }
    return job.written = blocks.size();
  }

  [[noreturn]] static void refuse(const TensorView& tensor, std::span<const float> residual) {
    const bool finite = std::all_of(tensor.data.begin(), tensor.data.end(),
                                    [](float value) { return std::isfinite(value); });
    if (finite && !residual.empty()) refuse_overflow(tensor, residual);
    require_finite(kName, tensor, kInfinityBits);
    GRADWIRE_ASSERT(!"the tensor changed while it was encoded");
    std::abort();
  }

  void read(const DecodeJob& job, float factor, kernels::Output output) const {
    const Blocks blocks = checked(job.payload, job.values.size());
    for_parts(job.team, blocks, [&](std::size_t b, std::size_t begin, std::size_t end) {
      const std::byte* bits = job.payload.data() + blocks.offset(b) + blocks.header;
      const float scale = factor * scale_of(job.payload, blocks, b);
      kernels::sign_values(bits + begin / 8, end - begin, scale, output,
                           job.values.data() + b * blocks.length + begin);
    });
  }

  Blocks checked(std::span<const std::byte> payload, std::size_t n) const {
    const Blocks blocks = blocks_of(n);
    require_size(kName, payload, blocks.size());
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const float scale = scale_of(payload, blocks, b);
      if (!std::isfinite(scale) || std::signbit(scale))
        refuse_payload(kName, payload.size(),
                       "byte " + std::to_string(blocks.offset(b)) +
                           " begins a scale that is not finite and >= 0");
    }
    return blocks;
  }

  static std::string signs_text(std::span<const std::byte> bits, std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(n, 16); ++i)
      text += (bits[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0} ? '-' : '+';
    return n > 16 ? text + "..." : text;
  }

  std::size_t block_;  ///< 0 = the whole tensor
  bool scaled_;
};

CodecPtr make(const OptionValues& options) {
  const auto block = static_cast<std::size_t>(options.integer("block"));
  const bool scaled = options.text("scale") == "mean";
  if (!scaled && block != 0)
    throw Error(ErrorKind::kUsage, "make codec", "sign",
                "blocks mean nothing without scales: leave \"block\" at 0 where \"scale\" is none");
  return std::make_shared<SignCodec>(block, scaled);
}

}  // namespace

CodecRow sign_row() {
  const OptionSpec block = {
      .name = "block",
      .type = OptionType::kInteger,
      .default_text = "0",
      .help =
          "elements that share a scale; 0 = the whole tensor, the layer-wise blocks of "
          "arXiv 2205.05632",
      .min = 0,
      .max = 4294967295.0};
  const OptionSpec scale = {
      .name = "scale",
      .type = OptionType::kChoice,
      .default_text = "mean",
      .help =
          "mean = mean |x| of the block (EF-sign is this with error feedback); none = +-1 "
          "without scales (signSGD: the sign of the workers' sum is their majority vote)",
      .choices = {"mean", "none"}};
  return {{.name = std::string(kName),
           .summary = "one sign bit an element and the mean magnitude of each block",
           .source = "Bernstein et al., signSGD, arXiv 1802.04434; Karimireddy et al., EF-signSGD, "
                     "arXiv 1901.09847; Li et al., COMP-AMS, arXiv 2205.05632",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {block, scale}},
          make};
}

}  // namespace gradwire::compressors
