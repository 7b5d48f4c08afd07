#include "compressors/cuda/selection.cuh"

namespace gradwire::compressors::cuda {
namespace {

/// tiles[t] = those that are surely taken << 32 | those of the last key, of each 4,096 elements.
__global__ void count_tiles_kernel(Elements from, const SelectionState* state,
                                   std::uint64_t* tiles) {
  if (state->tiles_counted) return;
  __shared__ unsigned long long in_tile;
  if (threadIdx.x == 0) in_tile = 0;
  __syncthreads();
  const std::uint32_t sure = state->sure, tie = state->tie;
  for (std::uint64_t tile = blockIdx.x; tile * kTile < from.count; tile += gridDim.x) {
    std::uint64_t own = 0;
#pragma unroll 4
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint64_t i = tile * kTile + round * kThreads + threadIdx.x;
      if (i >= from.count) continue;
      const std::uint32_t key = magnitude_bits(from.at(i));
      own += (key >= sure ? std::uint64_t{1} << 32 : 0) + (key == tie ? 1 : 0);
    }
    if (own > 0) atomicAdd(&in_tile, static_cast<unsigned long long>(own));
    __syncthreads();
    if (threadIdx.x == 0) {
      tiles[tile] = in_tile;
      in_tile = 0;
    }
    __syncthreads();
  }
}

/// Exclusive sums over counts[kRounds * kWarps], by the first warp.
__device__ void sum_counts(std::uint32_t* counts) {
  constexpr unsigned kEach = kRounds * kWarps / 32;
  if (threadIdx.x >= 32) return;
  std::uint32_t own[kEach], total = 0;
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j) {
    own[j] = total;
    total += counts[threadIdx.x * kEach + j];
  }
  std::uint32_t before = total;
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xFFFFFFFFu, before, distance);
    if (threadIdx.x >= static_cast<unsigned>(distance)) before += other;
  }
  before -= total;
#pragma unroll
  for (unsigned j = 0; j < kEach; ++j) counts[threadIdx.x * kEach + j] = before + own[j];
}

/// Writes what is taken to its place; `residual` becomes the elements, and 0 where one is taken.
__global__ void write_selected_kernel(Elements from, const SelectionState* state,
                                      const std::uint64_t* tiles_before, float* residual,
                                      DeviceSelection out, CudaReport* report) {
  if (block_refused(report)) return;
  __shared__ std::uint32_t counts[kRounds * kWarps];  // sure << 16 | ties
  const unsigned warp = threadIdx.x / 32, lower_lanes = (1u << threadIdx.x % 32) - 1;
  const std::uint32_t sure_key = state->sure, tie_key = state->tie, ties = state->ties;
  if (first_item() == 0) *out.count = state->count;
  for (std::uint64_t tile = blockIdx.x; tile * kTile < from.count; tile += gridDim.x) {
    float values[kRounds];
    std::uint32_t sure[kRounds], tied[kRounds];  // one bit a lane
#pragma unroll
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint64_t i = tile * kTile + round * kThreads + threadIdx.x;
      const bool valid = i < from.count;
      values[round] = valid ? from.at(i) : 0.0f;
      const std::uint32_t key = magnitude_bits(values[round]);
      sure[round] = __ballot_sync(0xFFFFFFFFu, valid && key >= sure_key);
      tied[round] = __ballot_sync(0xFFFFFFFFu, valid && key == tie_key);
      if (threadIdx.x % 32 == 0)
        counts[round * kWarps + warp] = __popc(sure[round]) << 16 | __popc(tied[round]);
    }
    __syncthreads();
    sum_counts(counts);
    __syncthreads();
    const std::uint64_t before = tiles_before[tile];
#pragma unroll
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint64_t i = tile * kTile + round * kThreads + threadIdx.x;
      const std::uint32_t base = counts[round * kWarps + warp];
      const std::uint32_t sure_before = static_cast<std::uint32_t>(before >> 32) + (base >> 16) +
                                        __popc(sure[round] & lower_lanes);
      const std::uint32_t ties_before =
          static_cast<std::uint32_t>(before) + (base & 0xFFFFu) + __popc(tied[round] & lower_lanes);
      const std::uint32_t own = 1u << threadIdx.x % 32;
      const bool taken =
          (sure[round] & own) != 0 || ((tied[round] & own) != 0 && ties_before < ties);
      if (taken) {
        const std::uint32_t at = sure_before + min(ties_before, ties);
        out.indices[at] = static_cast<std::uint32_t>(i);
        out.values[at] = values[round];
      }
      if (residual != nullptr && i < from.count) residual[i] = taken ? 0.0f : values[round];
    }
    __syncthreads();
  }
}

struct Scratch {
  SelectionState* state;
  std::uint64_t* tiles;
  DeviceSelection selected;
  std::byte* temporary;
  std::size_t temporary_at;
};

Scratch scratch_in(std::byte* base, const SelectionPlan& plan) {
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    std::byte* part = base + at;
    at += aligned(bytes);
    return part;
  };
  Scratch s;
  s.state = reinterpret_cast<SelectionState*>(take(sizeof(SelectionState)));
  s.tiles = reinterpret_cast<std::uint64_t*>(take(tiles_of(plan) * sizeof(std::uint64_t)));
  s.selected.count = reinterpret_cast<std::uint32_t*>(take(sizeof(std::uint32_t)));
  s.selected.indices = reinterpret_cast<std::uint32_t*>(take(4 * std::size_t{plan.most}));
  s.selected.values = reinterpret_cast<float*>(take(4 * std::size_t{plan.most}));
  s.temporary = base + at;
  s.temporary_at = at;
  return s;
}

}  // namespace

std::size_t selection_scratch(const SelectionPlan& plan) {
  return scratch_in(nullptr, plan).temporary_at + scan_scratch(tiles_of(plan));
}

DeviceSelection select_entries(const Source& from, float* residual, const SelectionPlan& plan,
                               std::byte* scratch) {
  const Scratch s = scratch_in(scratch, plan);
  const cudaStream_t stream = stream_of(from.stream);
  if (plan.n == 0) {
    check_cuda(cudaMemsetAsync(s.selected.count, 0, sizeof(std::uint32_t), stream), "select none");
    return s.selected;
  }
  const Elements all{from.values, residual, plan.n, 1};
  const unsigned grid = tiles_grid(plan);
  search_selection(all, plan, s.state, s.tiles, from.report, from.stream);
  count_tiles_kernel<<<grid, kThreads, 0, stream>>>(all, s.state, s.tiles);
  check_launch("count what is selected");
  scan_exclusive(s.tiles, tiles_of(plan), s.temporary, from.stream);
  write_selected_kernel<<<grid, kThreads, 0, stream>>>(all, s.state, s.tiles, residual, s.selected,
                                                       from.report);
  check_launch("write what is selected");
  return s.selected;
}

}  // namespace gradwire::compressors::cuda
