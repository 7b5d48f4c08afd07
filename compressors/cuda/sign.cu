#include "compressors/arithmetic/sign.h"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Block-sign. Blocks begin on any byte: f32 mu (with scales), then the signs.
namespace gradwire::compressors::cuda {
namespace {

/// Where a tensor's blocks lie, in elements and bytes; a thread takes 8 elements of one block.
struct Blocks {
  std::uint64_t n, length, header, count;

  __device__ std::uint64_t groups() const { return (length + 7) / 8; }
  __device__ std::uint64_t offset(std::uint64_t b) const { return b * (header + groups()); }
};

Blocks blocks_of(std::uint64_t n, const SignFormat& format) {
  const std::uint64_t length = format.block < n ? format.block : n;
  return {n, length, format.scaled ? 4u : 0u, n == 0 ? 0 : (n - 1) / length + 1};
}

struct SignFinish {
  Blocks blocks;
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

  __device__ Group(const Blocks& blocks, std::uint64_t i) {
    block = i / blocks.groups();
    const std::uint64_t in_block = i % blocks.groups();
    first = block * blocks.length + in_block * 8;
    end = min(min((block + 1) * blocks.length, blocks.n), first + 8);
    byte = blocks.offset(block) + blocks.header + in_block;
  }
};

// Refuses what is not finite; harmless where that was done before.
__global__ void signs_kernel(Source from, Blocks blocks, std::byte* payload) {
  for (std::uint64_t i = first_item(); i < blocks.count * blocks.groups(); i += stride()) {
    const Group group(blocks, i);
    if (group.first >= group.end) continue;  // beyond the last block's elements
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
}

template <bool kAdd>
__global__ void values_kernel(const std::byte* payload, Blocks blocks, Sink to) {
  if (refused(to.report)) return;  // bits are all good: refusals are those of scales
  for (std::uint64_t i = first_item(); i < blocks.count * blocks.groups(); i += stride()) {
    const Group group(blocks, i);
    if (group.first >= group.end) continue;
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
}

__global__ void check_scales_kernel(const std::byte* payload, Blocks blocks, CudaReport* report) {
  for (std::uint64_t b = first_item(); b < blocks.count; b += stride())
    if (!is_scale(load_float(payload + blocks.offset(b)))) refuse(report, blocks.offset(b));
}

unsigned groups_grid(const Blocks& blocks) {
  return grid_of(blocks.count * ((blocks.length + 7) / 8));
}

}  // namespace

std::size_t sign_scratch(std::uint64_t n, const SignFormat& format) {
  if (n == 0 || !format.scaled) return 0;
  return reduce_scratch<MagnitudePart>(segments_of(n, blocks_of(n, format).length));
}

void sign_encode(const Source& from, const SignFormat& format, std::byte* payload,
                 std::byte* scratch) {
  if (from.n == 0) return;
  const Blocks blocks = blocks_of(from.n, format);
  const Segments segments = segments_of(from.n, blocks.length);
  if (format.scaled)
    reduce<MagnitudePart>(from, segments, scratch, SignFinish{blocks, segments, payload});
  signs_kernel<<<groups_grid(blocks), kThreads, 0, stream_of(from.stream)>>>(from, blocks, payload);
  check_launch("pack signs");
}

void sign_decode(const std::byte* payload, const SignFormat& format, const Sink& to) {
  if (to.n == 0) return;
  const Blocks blocks = blocks_of(to.n, format);
  if (!to.trusted && format.scaled) {
    check_scales_kernel<<<grid_of(blocks.count), kThreads, 0, stream_of(to.stream)>>>(
        payload, blocks, to.report);
    check_launch("check scales");
  }
  const auto kernel = to.add ? values_kernel<true> : values_kernel<false>;
  kernel<<<groups_grid(blocks), kThreads, 0, stream_of(to.stream)>>>(payload, blocks, to);
  check_launch("read signs");
}

}  // namespace gradwire::compressors::cuda
