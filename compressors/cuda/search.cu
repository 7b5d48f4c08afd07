#include <cub/block/block_scan.cuh>

#include "compressors/cuda/selection.cuh"

namespace gradwire::compressors::cuda {
namespace {

constexpr int kDigitShifts[] = {20, 10, 0};  ///< 31 bits as 11 + 10 + 10

__global__ void begin_search_kernel(SelectionState* state, std::uint32_t rank) {
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) state->bins[b] = 0;
  if (threadIdx.x > 0) return;
  state->prefix = 0;
  state->remaining = rank;
  state->search = true;
  state->tiles_counted = false;
}

/// Counts the digit at `shift` of the keys that have the digits found so far.
__global__ void count_digits_kernel(Elements from, int shift, bool check, SelectionState* state,
                                    CudaReport* report) {
  if (!state->search) return;
  __shared__ std::uint32_t bins[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += kThreads) bins[b] = 0;
  __syncthreads();
  const unsigned digits = shift == kDigitShifts[0] ? kBins : 1024;
  const int known = shift == kDigitShifts[0] ? 31 : shift + 10;  // the bits from here on
  const std::uint32_t prefix = state->prefix;
  for (std::uint64_t i = first_item(); i < from.count; i += stride()) {
    const std::uint32_t key = magnitude_bits(from.at(i));
    if (check && key >= kInfinityBits) refuse(report, i);
    if (key >> known == prefix >> known) atomicAdd(&bins[key >> shift & (digits - 1)], 1u);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < digits; b += kThreads)
    if (bins[b] > 0) atomicAdd(&state->bins[b], bins[b]);
}

/// The digit of the key that is looked for; bins are cleared for the next. From the top, each
/// thread takes two bins.
__global__ void choose_digit_kernel(int shift, SelectionState* state) {
  using Scan = cub::BlockScan<std::uint32_t, kBins / 2>;
  __shared__ typename Scan::TempStorage storage;
  if (!state->search) return;
  const unsigned high = kBins - 1 - 2 * threadIdx.x, low = high - 1;
  const std::uint32_t in_high = state->bins[high], in_low = state->bins[low];
  const std::uint32_t remaining = state->remaining;
  std::uint32_t above;
  Scan(storage).ExclusiveSum(in_high + in_low, above);  // all threads have read `remaining`
  state->bins[high] = state->bins[low] = 0;
  if (above >= remaining || above + in_high + in_low < remaining) return;
  const bool in_upper = above + in_high >= remaining;
  state->prefix |= (in_upper ? high : low) << shift;
  state->remaining = remaining - above - (in_upper ? 0 : in_high);
}

/// The k-th largest key is known: what is larger is taken, and the first of its like.
__global__ void take_exactly_kernel(std::uint32_t k, SelectionState* state) {
  if (!state->search) return;
  state->sure = state->prefix + 1;
  state->tie = state->prefix;
  state->ties = state->remaining;
  state->count = k;
}

__global__ void set_thresholds_kernel(SelectionState* state) {
  std::uint32_t threshold = min(state->prefix, kInfinityBits);
  for (int j = 0; j < kThresholds; ++j) {
    state->thresholds[j] = threshold;
    state->passed[j] = 0;
    threshold = lowered_threshold(threshold);
  }
}

/// How many pass each threshold; of the first one by tiles, too.
__global__ void count_passed_kernel(Elements from, SelectionState* state, std::uint64_t* tiles,
                                    CudaReport* report) {
  __shared__ std::uint32_t passed[kThresholds], in_tile;
  if (threadIdx.x < kThresholds) passed[threadIdx.x] = 0;
  if (threadIdx.x == 0) in_tile = 0;
  __syncthreads();
  const std::uint32_t first = state->thresholds[0], lowest = state->thresholds[kThresholds - 1];
  std::uint32_t own[kThresholds] = {};
  for (std::uint64_t tile = blockIdx.x; tile * kTile < from.count; tile += gridDim.x) {
    std::uint32_t reached = 0;
#pragma unroll 4
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint64_t i = tile * kTile + round * kThreads + threadIdx.x;
      if (i >= from.count) continue;
      const std::uint32_t key = magnitude_bits(from.at(i));
      if (key >= kInfinityBits) refuse(report, i);
      if (key < lowest) continue;
      reached += key >= first ? 1 : 0;
#pragma unroll
      for (int j = 0; j < kThresholds; ++j) own[j] += key >= state->thresholds[j] ? 1 : 0;
    }
    if (reached > 0) atomicAdd(&in_tile, reached);
    __syncthreads();
    if (threadIdx.x == 0) {
      tiles[tile] = static_cast<std::uint64_t>(in_tile) << 32;
      in_tile = 0;
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < kThresholds; ++j)
    if (own[j] > 0) atomicAdd(&passed[j], own[j]);
  __syncthreads();
  if (threadIdx.x < kThresholds) atomicAdd(&state->passed[threadIdx.x], passed[threadIdx.x]);
}

/// Takes what passes a threshold, or looks for the k-th largest of all.
__global__ void decide_kernel(std::uint32_t k, std::uint32_t most, SelectionState* state) {
  const int retry = sampled_retry(state->passed, k, most);
  state->prefix = 0;
  state->remaining = k;
  state->search = retry < 0;
  state->tiles_counted = retry == 0;
  if (retry < 0) return;
  state->sure = state->thresholds[retry];
  state->tie = kNoKey;
  state->ties = 0;
  state->count = state->passed[retry];
}

void search(const Elements& from, bool check, SelectionState* state, CudaReport* report,
            cudaStream_t stream) {
  const unsigned grid = grid_of(from.count) < 2048 ? grid_of(from.count) : 2048;
  for (const int shift : kDigitShifts) {
    count_digits_kernel<<<grid, kThreads, 0, stream>>>(
        from, shift, check && shift == kDigitShifts[0], state, report);
    check_launch("count digits");
    choose_digit_kernel<<<1, kBins / 2, 0, stream>>>(shift, state);
    check_launch("choose a digit");
  }
}

}  // namespace

void search_selection(const Elements& all, const SelectionPlan& plan, SelectionState* state,
                      std::uint64_t* tiles, CudaReport* report, void* on_stream) {
  const cudaStream_t stream = stream_of(on_stream);
  if (plan.sample > 0) {
    const SampleRule rule = sample_rule(plan.n, plan.sample);
    begin_search_kernel<<<1, kThreads, 0, stream>>>(
        state, static_cast<std::uint32_t>(sample_rank(rule.count, plan.k, plan.n)));
    check_launch("begin a search");
    search({all.values, all.residual, rule.count, rule.stride}, false, state, report, stream);
    set_thresholds_kernel<<<1, 1, 0, stream>>>(state);
    check_launch("set thresholds");
    count_passed_kernel<<<tiles_grid(plan), kThreads, 0, stream>>>(all, state, tiles, report);
    check_launch("count what passes");
    decide_kernel<<<1, 1, 0, stream>>>(plan.k, plan.most, state);
    check_launch("decide on a threshold");
  } else {
    begin_search_kernel<<<1, kThreads, 0, stream>>>(state, plan.k);
    check_launch("begin a search");
  }
  search(all, plan.sample == 0, state, report, stream);
  take_exactly_kernel<<<1, 1, 0, stream>>>(plan.k, state);
  check_launch("take the largest");
}

}  // namespace gradwire::compressors::cuda
