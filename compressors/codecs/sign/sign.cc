#include <algorithm>
#include <cmath>

#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/sign/arithmetic.h"
#include "compressors/codecs/sign/kernel.h"
#include "compressors/codecs/sign/layout.h"
#include "compressors/kernels/sign_values.h"
#include "compressors/ordered_sum.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "sign";
/// Sums of a block's parts, one behind the other.
std::size_t sums_of(const SignBlocks& blocks) {
  return static_cast<std::size_t>(blocks.count()) * sum_blocks(blocks.length);
}

/// body(b, begin, end) for parts of blocks: of one block's elements, or whole blocks of many.
template <class Body>
void for_parts(ThreadTeam* team, const SignBlocks& blocks, Body&& body) {
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

class SignCodec final : public LaidOutCodec<SignCodec, SignLayout> {
 public:
  SignCodec(std::size_t block, bool scaled)
      : LaidOutCodec(SignLayout(block, scaled)), scaled_(scaled) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    return sums_of(layout().blocks(tensor.n)) * sizeof(double);
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
    const SignBlocks blocks = layout().blocks(job.tensor.data.size());
    for_parts(job.team, blocks, [&](std::size_t b, std::size_t begin, std::size_t end) {
      const std::size_t at = b * blocks.length + begin;
      kernels::sign_residual(values + at, end - begin,
                             layout().scale(job.payload.data() + blocks.offset(b)),
                             residual.data() + at);
    });
    return job.written;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const SignBlocks blocks = layout().blocks(job.values.size());
    for_parts(job.team, blocks, [&](std::size_t b, std::size_t begin, std::size_t end) {
      const std::byte* block = job.payload.data() + blocks.offset(b);
      kernels::sign_values(block + blocks.header + begin / 8, end - begin,
                           factor * layout().scale(block), output,
                           job.values.data() + b * blocks.length + begin);
    });
  }

 private:
  // kernel(at, n, bits, sums) encodes elements [at, at + n).
  template <class Kernel>
  std::size_t write(EncodeJob& job, std::span<const float> residual, std::span<std::byte> scratch,
                    Kernel&& kernel) const {
    const SignBlocks blocks = layout().blocks(job.tensor.data.size());
    const std::size_t size = begin_encoding(job);
    const auto sums = view_as<double>(scratch, sums_of(blocks));
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
    return job.written = size;
  }

  [[noreturn]] static void refuse(const TensorView& tensor, std::span<const float> residual) {
    const bool finite = std::all_of(tensor.data.begin(), tensor.data.end(),
                                    [](float value) { return std::isfinite(value); });
    if (finite && !residual.empty()) refuse_overflow(tensor, residual);
    require_finite(kName, tensor, kInfinityBits);
    GRADWIRE_ASSERT(!"the tensor changed while it was encoded");
    std::abort();
  }

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
