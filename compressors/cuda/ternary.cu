#include "compressors/arithmetic/ternary.h"
#include "compressors/cuda/launch.cuh"
#include "compressors/ordered_sum.h"

namespace gradwire::compressors::cuda {
namespace {

constexpr unsigned kPartials = 16;  // kSumPartials: one thread each, a half-warp a block of 4,096
constexpr unsigned kCombineThreads = 1024;

/// Scratch: one of each for every block of 4,096 elements.
struct BlockSums {
  double* sum;
  double* sum_squares;
  std::uint32_t* largest;
};

BlockSums block_sums_in(std::byte* scratch, std::uint64_t blocks) {
  auto* sums = reinterpret_cast<double*>(scratch);
  return {sums, sums + blocks, reinterpret_cast<std::uint32_t*>(sums + 2 * blocks)};
}

// Folds 16 lanes in halves; lane 0 of the half-warp ends with the total.
__device__ double fold_lanes(double partial) {
  for (int half = kPartials / 2; half > 0; half /= 2)
    partial += __shfl_down_sync(0xFFFFFFFFu, partial, half, kPartials);
  return partial;
}

__device__ std::uint32_t fold_largest(std::uint32_t value) {
  for (int half = kPartials / 2; half > 0; half /= 2)
    value = max(value, __shfl_down_sync(0xFFFFFFFFu, value, half, kPartials));
  return value;
}

// All lanes stay in the loop for the shuffles: the count of rounds is the same for a whole grid.
__global__ void moments_kernel(const float* values, std::uint64_t n, BlockSums out,
                               CudaReport* report) {
  const std::uint64_t blocks = (n + kSumBlock - 1) / kSumBlock;
  const double pivot = values[0];
  const unsigned lane = threadIdx.x % kPartials;
  for (std::uint64_t first = 0; first < blocks; first += stride() / kPartials) {
    const std::uint64_t block = first + first_item() / kPartials;
    const std::uint64_t begin = block * kSumBlock;
    const std::uint64_t end = begin + kSumBlock < n ? begin + kSumBlock : n;
    double sum = 0, sum_squares = 0;
    std::uint32_t largest = 0;
    for (std::uint64_t e = begin + lane; e < end; e += kPartials) {
      const float value = values[e];
      const double difference = static_cast<double>(value) - pivot;
      sum += difference;
      sum_squares += difference * difference;
      largest = max(largest, magnitude_bits(value));
      if (magnitude_bits(value) >= kInfinityBits) refuse(report, e);
    }
    sum = fold_lanes(sum);
    sum_squares = fold_lanes(sum_squares);
    largest = fold_largest(largest);
    if (lane != 0 || block >= blocks) continue;
    out.sum[block] = sum;
    out.sum_squares[block] = sum_squares;
    out.largest[block] = largest;
  }
}

// Neighbours first, an odd one passing up unchanged: step 4 of compressors/ordered_sum.h.
__global__ void scale_kernel(BlockSums sums, std::uint64_t blocks, std::uint64_t n, double clip,
                             float* scale, CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t apart = 1; apart < blocks; apart *= 2) {
    for (std::uint64_t i = threadIdx.x * 2 * apart; i + apart < blocks;
         i += 2 * apart * blockDim.x) {
      sums.sum[i] += sums.sum[i + apart];
      sums.sum_squares[i] += sums.sum_squares[i + apart];
      sums.largest[i] = max(sums.largest[i], sums.largest[i + apart]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    *scale = ternary_scale(sums.sum[0], sums.sum_squares[0], float_of(sums.largest[0]), n, clip);
}

/// Element 4 i + j uses draw first_element + 4 i + j: one Philox block, or two where misaligned.
__device__ void draw_four(const RandomStream& draws, std::uint64_t first, std::uint32_t* words) {
  const unsigned skip = first % 4;
  const PhiloxBlock block = philox_block(draws, static_cast<std::uint32_t>(first / 4));
  for (unsigned j = skip; j < 4; ++j) words[j - skip] = block.word[j];
  if (skip == 0) return;
  const PhiloxBlock next = philox_block(draws, static_cast<std::uint32_t>(first / 4 + 1));
  for (unsigned j = 0; j < skip; ++j) words[4 - skip + j] = next.word[j];
}

__global__ void codes_kernel(const float* values, std::uint64_t n, const float* scale,
                             RandomStream draws, std::uint64_t first_element, std::byte* codes,
                             CudaReport* report) {
  const TernaryRule rule = ternary_rule(*scale);
  for (std::uint64_t i = first_item(); 4 * i < n; i += stride()) {
    std::uint32_t words[4];
    draw_four(draws, first_element + 4 * i, words);
    unsigned packed = 0;
    for (unsigned j = 0; j < 4 && 4 * i + j < n; ++j) {
      const float value = values[4 * i + j];
      if (magnitude_bits(value) >= kInfinityBits) refuse(report, 4 * i + j);
      const int code = ternary_term(value, ternary_draw(words[j]), rule) + 1;
      packed |= static_cast<unsigned>(code) << (2 * j);
    }
    codes[i] = static_cast<std::byte>(packed);
  }
}

template <bool kAdd>
__global__ void values_kernel(const std::byte* payload, std::uint64_t n, float factor, bool trusted,
                              float* values, CudaReport* report) {
  if (trusted && refused(report)) return;
  const float scale = *reinterpret_cast<const float*>(payload);
  if (bits_of(scale) >= kInfinityBits) {  // NaN, Inf or a set sign bit
    if (first_item() == 0) refuse(report, 0);
    return;
  }
  const float unit = kAdd ? factor * scale : scale;
  for (std::uint64_t i = first_item(); 4 * i < n; i += stride()) {
    const auto packed = static_cast<unsigned>(payload[4 + i]);
    for (unsigned j = 0; j < 4 && 4 * i + j < n; ++j) {
      const unsigned code = packed >> (2 * j) & 3u;
      if (code == 3) refuse(report, 4 + i);
      const float value = static_cast<float>(static_cast<int>(code) - 1) * unit;
      values[4 * i + j] = kAdd ? values[4 * i + j] + value : value;
    }
  }
}

}  // namespace

std::size_t ternary_scratch_size(std::uint64_t n) {
  return sum_blocks(n) * (2 * sizeof(double) + sizeof(std::uint32_t));
}

void ternary_own_scale(const float* values, std::uint64_t n, double clip, float* scale,
                       std::byte* scratch, CudaReport* report, void* stream) {
  if (n == 0) return store_float(0.0f, scale, stream);
  const std::uint64_t blocks = sum_blocks(n);
  const BlockSums sums = block_sums_in(scratch, blocks);
  moments_kernel<<<grid_of(blocks * kPartials), kThreads, 0, stream_of(stream)>>>(values, n, sums,
                                                                                  report);
  check_launch("sum moments");
  scale_kernel<<<1, kCombineThreads, 0, stream_of(stream)>>>(sums, blocks, n, clip, scale, report);
  check_launch("find a scale");
}

void ternary_codes(const float* values, std::uint64_t n, const float* scale,
                   const RandomStream& draws, std::uint64_t first_element, std::byte* codes,
                   CudaReport* report, void* stream) {
  codes_kernel<<<grid_of((n + 3) / 4), kThreads, 0, stream_of(stream)>>>(
      values, n, scale, draws, first_element, codes, report);
  check_launch("draw ternary codes");
}

void ternary_values(const std::byte* payload, std::uint64_t n, float* values, CudaReport* report,
                    void* stream) {
  values_kernel<false><<<grid_of((n + 3) / 4), kThreads, 0, stream_of(stream)>>>(
      payload, n, 1.0f, false, values, report);
  check_launch("read ternary codes");
}

void ternary_values_add(const std::byte* payload, std::uint64_t n, float factor, bool trusted,
                        float* values, CudaReport* report, void* stream) {
  values_kernel<true><<<grid_of((n + 3) / 4), kThreads, 0, stream_of(stream)>>>(
      payload, n, factor, trusted, values, report);
  check_launch("add ternary codes");
}

}  // namespace gradwire::compressors::cuda
