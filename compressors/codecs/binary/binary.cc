#include "compressors/codecs/binary/kernel.h"
#include "compressors/codecs/binary/layout.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/node_rows.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/kernels/sign_values.h"
#include "compressors/payload.h"
#include "compressors/xnor_gemm.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "binary";

class BinaryCodec final : public LaidOutCodec<BinaryCodec, BinaryLayout> {
 public:
  explicit BinaryCodec(bool drawn) : LaidOutCodec(BinaryLayout()), drawn_(drawn) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    if (drawn_) require_draws(kName, job.tensor, job.draws);
    SharedMaximum largest;
    for_parts(job.team, node_rows(job.tensor),
              [&](std::size_t at, std::size_t n, std::size_t byte) {
                std::byte* bits = job.payload.data() + byte;
                std::fill(bits + (n + 7) / 8, bits + plane_bytes(n), std::byte{0});
                largest.raise(drawn_ ? kernels::drawn_bits(data.data() + at, n, job.draws, at, bits)
                                     : kernels::positive_bits(data.data() + at, n, bits));
              });
    require_finite(kName, job.tensor, largest.get());
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    for_parts(job.team, node_rows(job.spec()),
              [&](std::size_t at, std::size_t n, std::size_t byte) {
                // The kernel's 1 is negative: -(-factor) is what it makes of it.
                kernels::sign_values(job.payload.data() + byte, n, -factor, output,
                                     job.values.data() + at);
              });
  }

  void show(const std::vector<float>& decoded, std::vector<PayloadField>& fields) const {
    std::string signs;
    for (std::size_t i = 0; i < std::min<std::size_t>(decoded.size(), 16); ++i)
      signs += decoded[i] > 0.0f ? '+' : '-';
    if (decoded.size() > signs.size()) signs += "...";
    fields[0].name = "signs";
    fields[0].value = signs;
  }

 private:
  /// body(first element, elements, first byte) for rows or, where rows are whole words, for parts
  /// of all of them together.
  template <class Body>
  static void for_parts(ThreadTeam* team, const NodeRows& nodes, Body&& body) {
    if (nodes.rows == 1 || nodes.columns % 64 == 0) {
      for_ranges(team, nodes.rows * nodes.columns, 4096, kRangeElements,
                 [&](std::size_t begin, std::size_t end) { body(begin, end - begin, begin / 8); });
      return;
    }
    const std::size_t rows = std::max<std::size_t>(1, kRangeElements / nodes.columns);
    for_ranges(team, nodes.rows, 1, rows, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = first; r < last; ++r)
        body(r * nodes.columns, nodes.columns, r * plane_bytes(nodes.columns));
    });
  }

  bool drawn_;
};

}  // namespace

CodecRow binary_row() {
  return {{.name = std::string(kName),
           .summary = "+-1 in one bit, rows in 64-bit words as the XNOR product takes them",
           .source = "Hubara et al., Quantized neural networks, arXiv 1609.07061",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {rounding_option(
               "nearest = the sign, that of 0 being +1; stochastic = +1 with probability "
               "(x + 1) / 2, unbiased within [-1, 1]")},
           .family = CodecFamily::kWeights,
           .needs_shape = true},
          [](const OptionValues& options) -> CodecPtr {
            return std::make_shared<BinaryCodec>(options.text("rounding") == "stochastic");
          }};
}

}  // namespace gradwire::compressors
