#include "compressors/codecs/sign/arithmetic.h"
#include "compressors/codecs/sign/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Block-sign. Blocks begin on any byte: f32 mu (with scales), then the signs.
namespace gradwire::compressors::cuda {
namespace {

struct SignFinish {
  SignBlocks blocks;
  Segments segments;
  std::byte* payload;
  __device__ void operator()(std::uint64_t b, const MagnitudePart& part) const {
    const float mean = block_sign_scale(part.sum, segments.elements(b));
    store_bytes(payload + blocks.offset(b), bits_of(mean), 4);
  }
};

/// Group i of all: its block, and its place in it.
struct Group {
  std::uint64_t block, first, end;  ///< elements
  std::uint64_t byte;               ///< of the payload

  __device__ Group(const SignBlocks& blocks, std::uint64_t i) {
    block = i / blocks.bits_of_whole();
    const std::uint64_t in_block = i % blocks.bits_of_whole();
    first = block * blocks.length + in_block * 8;
    end = min(min((block + 1) * blocks.length, blocks.n), first + 8);
    byte = blocks.offset(block) + blocks.header + in_block;
  }
};

// Refuses what is not finite; harmless where that was done before.
struct PackSigns {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  SignBlocks blocks;
  std::byte* payload;

  std::uint64_t units() const {
    return units_of(blocks.count() * blocks.bits_of_whole(), kEachUnit);
  }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, blocks.count() * blocks.bits_of_whole(), [&](std::uint64_t i) { pack(i); });
  }

  __device__ void pack(std::uint64_t i) const {
    const Group group(blocks, i);
    if (group.first >= group.end) return;  // beyond the last block's elements
    float values[8];
    load_eight(from.values, group.first, group.end, values);
    std::uint32_t bits = 0;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      if (group.first + j >= group.end) continue;
      if (!is_finite(values[j])) refuse(from.report, group.first + j);
      bits |= sign_bit(values[j]) << j;
    }
    payload[group.byte] = static_cast<std::byte>(bits);
  }
};

template <bool kAdd>
struct ReadSigns {
  static constexpr unsigned kBlockThreads = kThreads;
  const std::byte* payload;
  SignBlocks blocks;
  Sink to;

  std::uint64_t units() const {
    return units_of(blocks.count() * blocks.bits_of_whole(), kEachUnit);
  }
  __device__ void run(std::uint64_t unit) const {
    if (refused(to.report)) return;  // bits are all good: refusals are those of scales
    for_each_of(unit, blocks.count() * blocks.bits_of_whole(), [&](std::uint64_t i) { read(i); });
  }

  __device__ void read(std::uint64_t i) const {
    const Group group(blocks, i);
    if (group.first >= group.end) return;
    const float mean = blocks.header > 0 ? load_float(payload + blocks.offset(group.block)) : 1.0f;
    const float scale = kAdd ? to.factor * mean : mean;
    const auto bits = static_cast<std::uint32_t>(payload[group.byte]);
    float values[8];
    if (kAdd) load_eight(to.values, group.first, group.end, values);
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) {
      const float value = (bits >> j & 1u) != 0 ? -scale : scale;
      values[j] = kAdd ? values[j] + value : value;
    }
    store_eight(values, group.first, group.end, to.values);
  }
};

Segments block_segments(const EncodeTensor& tensor, const SignLayout& layout) {
  if (tensor.source.n == 0) return {};
  return segments_of(tensor.source.n, layout.blocks(tensor.source.n).length);
}

template <bool kAdd>
void read_signs(Decodes to, const SignLayout& layout) {
  launch_items(to.size(), common_stream(to), "read signs", [&](std::size_t i) {
    return ReadSigns<kAdd>{to[i].payload, layout.blocks(to[i].sink.n), to[i].sink};
  });
}

}  // namespace

std::size_t sign_scratch(std::uint64_t n, const SignLayout& layout) {
  if (n == 0 || !layout.scaled()) return 0;
  return reduce_scratch<MagnitudePart>(segments_of(n, layout.blocks(n).length));
}

void sign_encode(Encodes from, const SignLayout& layout) {
  const auto segments = [&](const EncodeTensor& tensor) { return block_segments(tensor, layout); };
  if (layout.scaled())
    reduce<MagnitudePart>(from, segments, [&](const EncodeTensor& tensor) {
      return SignFinish{layout.blocks(tensor.source.n), segments(tensor), tensor.payload};
    });
  launch_items(from.size(), common_stream(from), "pack signs", [&](std::size_t i) {
    return PackSigns{from[i].source, layout.blocks(from[i].source.n), from[i].payload};
  });
}

void sign_decode(Decodes to, const SignLayout& layout) {
  check_fields(to, layout);
  if (to[0].sink.add)
    read_signs<true>(to, layout);
  else
    read_signs<false>(to, layout);
}

}  // namespace gradwire::compressors::cuda
