#include "compressors/codecs/binary/kernel.h"
#include "compressors/codecs/codecs.h"
#include "compressors/codecs/node_rows.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/codecs/sign/kernel.h"
#include "compressors/payload.h"
#include "compressors/xnor_gemm.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "binary";

/// Rows of 64-bit words, bit 1 = +1, LSB first, padding 0: 8 ceil(columns / 64) bytes a row; a
/// factor of bit_plane_gemm().
class BinaryCodec final : public Codec {
 public:
  explicit BinaryCodec(bool drawn) : drawn_(drawn) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const NodeRows nodes = node_rows(tensor);
    return nodes.rows * plane_bytes(nodes.columns);
  }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = max_encoded_size(job.tensor);
    GRADWIRE_ASSERT(job.payload.size() >= size);
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

  void decode(const DecodeJob& job, std::span<std::byte>) const override {
    read(job, 1.0f, kernels::output_of(job.values.size_bytes()));
  }
  void decode_accumulate(const DecodeJob& job, float factor, std::span<std::byte>) const override {
    read(job, factor, kernels::Output::kAdd);
  }

  std::vector<PayloadField> explain(std::span<const std::byte> payload, const TensorSpec& tensor,
                                    const SideInputs&) const override {
    require_size(kName, payload, max_encoded_size(tensor));
    const NodeRows nodes = node_rows(tensor);
    std::string signs;
    for (std::size_t i = 0; i < std::min<std::size_t>(nodes.columns, 16) && !payload.empty(); ++i)
      signs += (payload[i / 8] >> (i % 8) & std::byte{1}) != std::byte{0} ? '+' : '-';
    if (tensor.n > signs.size()) signs += "...";
    return {{0, payload.size(), "signs",
             std::string("u64[").append(std::to_string(nodes.rows)) + "][" +
                 std::to_string(plane_bytes(nodes.columns) / 8) + "]",
             signs}};
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

  void read(const DecodeJob& job, float factor, kernels::Output output) const {
    require_size(kName, job.payload, max_encoded_size(job.spec()));
    for_parts(job.team, node_rows(job.spec()),
              [&](std::size_t at, std::size_t n, std::size_t byte) {
                // The kernel's 1 is negative: -(-factor) is what it makes of it.
                kernels::sign_values(job.payload.data() + byte, n, -factor, output,
                                     job.values.data() + at);
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
