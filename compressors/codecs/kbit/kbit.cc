#include "compressors/codecs/codecs.h"
#include "compressors/codecs/kbit/arithmetic.h"
#include "compressors/codecs/kbit/kernel.h"
#include "compressors/codecs/kbit/layout.h"
#include "compressors/codecs/laid_out_codec.h"
#include "compressors/codecs/node_rows.h"
#include "compressors/codecs/packed_table.h"
#include "compressors/kernels/planes.h"
#include "compressors/payload.h"
#include "compressors/xnor_gemm.h"

namespace gradwire::compressors {
namespace {

constexpr std::string_view kName = "kbit";

/// 2^k levels on [-1, 1], or multiples of a step.
struct Grid {
  int bits;
  float step;  ///< 0 = levels on [-1, 1]

  std::uint32_t codes(const float* values, std::size_t n, std::uint8_t* codes) const {
    return step == 0 ? kernels::unit_codes(values, n, bits, codes)
                     : kernels::step_codes(values, n, step, bits, codes);
  }
  float value(std::uint32_t code) const {
    return step == 0 ? unit_value(code, bits) : step_value(code, step, bits);
  }
};

struct GridTable {
  float values[256];
  GridTable(const Grid& grid, float factor) {
    for (std::uint32_t c = 0; c < 1u << grid.bits; ++c) values[c] = factor * grid.value(c);
  }
};

/// n codes of k bits, LSB first.
class PackedKbit final : public LaidOutCodec<PackedKbit, PackedKbitLayout> {
 public:
  explicit PackedKbit(Grid grid) : LaidOutCodec(PackedKbitLayout(grid.bits)), grid_(grid) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::span<const float> data = job.tensor.data;
    const std::size_t size = begin_encoding(job);
    const std::uint32_t largest =
        write_packed(job.team, data.size(), grid_.bits, job.payload,
                     [&](std::size_t at, std::size_t count, std::uint8_t* codes) {
                       return grid_.codes(data.data() + at, count, codes);
                     });
    require_finite(kName, job.tensor, largest);
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    read_packed(job.team, job.payload, grid_.bits, GridTable(grid_, factor).values, output,
                job.values);
  }

 private:
  Grid grid_;
};

/// [rows][k planes][64-bit words].
class PlanarKbit final : public LaidOutCodec<PlanarKbit, PlanarKbitLayout> {
 public:
  explicit PlanarKbit(Grid grid) : LaidOutCodec(PlanarKbitLayout(grid.bits)), grid_(grid) {}
  std::string_view name() const override { return kName; }
  AggregatePolicy policy() const override { return AggregatePolicy::kGather; }

  std::size_t encode(EncodeJob& job, std::span<std::byte>) const override {
    const std::size_t size = begin_encoding(job);
    SharedMaximum largest;
    for_parts(job.team, node_rows(job.tensor), [&](const Part& part) {
      std::uint8_t codes[kernels::kLevelChunk];
      largest.raise(grid_.codes(job.tensor.data.data() + part.at, part.n, codes));
      std::byte* to = job.payload.data() + part.byte;
      for (int p = 0; p < grid_.bits; ++p)
        std::fill_n(to + static_cast<std::size_t>(p) * part.stride, plane_bytes(part.n),
                    std::byte{0});
      kernels::split_planes(codes, part.n, grid_.bits, part.stride, to);
    });
    require_finite(kName, job.tensor, largest.get());
    return job.written = size;
  }

  void read(const DecodeJob& job, kernels::Output output, float factor,
            std::span<std::byte>) const {
    const GridTable table(grid_, factor);
    for_parts(job.team, node_rows(job.spec()), [&](const Part& part) {
      std::uint8_t codes[kernels::kLevelChunk];
      kernels::join_planes(job.payload.data() + part.byte, part.n, grid_.bits, part.stride, codes);
      kernels::table_values({reinterpret_cast<const std::byte*>(codes), 8}, part.n, table.values,
                            1 << grid_.bits, output, job.values.data() + part.at);
    });
  }

 private:
  struct Part {
    std::size_t at, n;   ///< elements
    std::size_t byte;    ///< of the first plane
    std::size_t stride;  ///< bytes from plane to plane
  };

  /// body(part) for parts of rows, of whole words but for the last.
  template <class Body>
  void for_parts(ThreadTeam* team, const NodeRows& nodes, Body&& body) const {
    const std::size_t parts = buckets(nodes.columns, kernels::kLevelChunk);
    const std::size_t row_bytes = layout().row_bytes(
        {.n = nodes.rows * nodes.columns, .columns = nodes.columns, .nodes = nodes.rows});
    const std::size_t smallest = kRangeElements / std::min(nodes.columns + 1, kernels::kLevelChunk);
    for_ranges(team, nodes.rows * parts, 1, smallest, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t row = i / parts, column = i % parts * kernels::kLevelChunk;
        body(Part{row * nodes.columns + column,
                  std::min(kernels::kLevelChunk, nodes.columns - column),
                  row * row_bytes + column / 8, plane_bytes(nodes.columns)});
      }
    });
  }

  Grid grid_;
};

CodecPtr make(const OptionValues& options) {
  const bool steps = options.text("grid") == "step";
  const Grid grid{static_cast<int>(options.integer("bits")),
                  steps ? static_cast<float>(options.number("step")) : 0.0f};
  if (options.text("layout") == "planes") return std::make_shared<PlanarKbit>(grid);
  return std::make_shared<PackedKbit>(grid);
}

}  // namespace

CodecRow kbit_row() {
  const OptionSpec grid = {
      .name = "grid",
      .type = OptionType::kChoice,
      .default_text = "unit",
      .help =
          "unit = 2^bits levels from -1 to 1; step = multiples of \"step\" from -2^(bits - 1) "
          "to 2^(bits - 1) - 1",
      .choices = {"unit", "step"}};
  const OptionSpec step = {.name = "step",
                           .type = OptionType::kNumber,
                           .default_text = "0.125",
                           .help = "distance of the grid \"step\" 's levels",
                           .min = 1e-30,
                           .max = 1e30};
  const OptionSpec layout = {
      .name = "layout",
      .type = OptionType::kChoice,
      .default_text = "packed",
      .help =
          "packed = code after code; planes = rows of bit planes in 64-bit words, as the exact "
          "matrix product takes them",
      .choices = {"packed", "planes"}};
  return {{.name = std::string(kName),
           .summary = "the nearest of 2^k levels on [-1, 1], or of multiples of a step, in k bits",
           .source = "Hubara et al., Quantized neural networks, arXiv 1609.07061",
           .policy = AggregatePolicy::kGather,
           .unbiased = false,
           .options = {bits_option("2", 1, 8, "bits of a code; 1 on the grid \"unit\" is the sign"),
                       grid, step, layout},
           .family = CodecFamily::kWeights,
           .needs_shape = true},
          make};
}

}  // namespace gradwire::compressors
