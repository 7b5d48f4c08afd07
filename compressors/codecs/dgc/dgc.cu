#include <cub/block/block_scan.cuh>

#include "compressors/codecs/dgc/arithmetic.h"
#include "compressors/codecs/dgc/cuda.h"
#include "compressors/cuda/launch.cuh"

/// Selected entries as runs of what is skipped, and values.
namespace gradwire::compressors::cuda {
namespace {

constexpr unsigned kWalkers = 1024;

/// Runs and values are read and written as halves of words.
template <std::size_t kField>
__device__ constexpr std::uint64_t half_of(std::uint64_t entry) {
  return DgcLayout().entry_at<DgcLayout::kEntries, kField>(entry) / 2;
}

/// The positions skipped before entry i.
__device__ std::uint64_t gap_before(const DeviceSelection& selected, std::uint64_t i) {
  const std::uint64_t next = i == 0 ? 0 : std::uint64_t{selected.indices[i - 1]} + 1;
  return selected.indices[i] - next;
}

/// slots[i] = entries that entry i takes, its fillers among them; 0 beyond the count.
__global__ void count_slots_kernel(DeviceSelection selected, std::uint32_t most,
                                   std::uint64_t* slots, const CudaReport* report) {
  const std::uint32_t count = refused(report) ? 0 : *selected.count;
  for (std::uint64_t i = first_item(); i <= most; i += stride())
    slots[i] = i < count ? run_fillers(gap_before(selected, i)) + 1 : 0;
}

/// A run and a value, on an even byte.
__device__ void put_run(std::uint16_t* payload, std::uint64_t slot, std::uint64_t run,
                        std::uint32_t value) {
  payload[half_of<DgcLayout::kRun>(slot)] = static_cast<std::uint16_t>(run);
  std::uint16_t* to = payload + half_of<DgcLayout::kValue>(slot);
  to[0] = static_cast<std::uint16_t>(value);
  to[1] = static_cast<std::uint16_t>(value >> 16);
}

__global__ void write_runs_kernel(DeviceSelection selected, std::uint32_t most,
                                  const std::uint64_t* slots, std::byte* payload,
                                  CudaReport* report) {
  if (refused(report)) return;
  auto* halves = reinterpret_cast<std::uint16_t*>(payload);
  if (first_item() == 0) {
    *reinterpret_cast<std::uint32_t*>(payload) = static_cast<std::uint32_t>(slots[most]);
    report->written = DgcLayout(slots[most]).size({});
  }
  const std::uint32_t count = *selected.count;
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    const std::uint64_t gap = gap_before(selected, i), fillers = run_fillers(gap);
    for (std::uint64_t f = 0; f < fillers; ++f) put_run(halves, slots[i] + f, kRunCovered - 1, 0);
    put_run(halves, slots[i] + fillers, gap - fillers * kRunCovered, bits_of(selected.values[i]));
  }
}

/// Walks over all entries with one block of threads, since each begins where the one before ends:
/// checks them, or applies what is not a filler.
__global__ void __launch_bounds__(kWalkers)
    walk_runs_kernel(const std::byte* payload, std::uint32_t entries, bool check, Sink to) {
  using Scan = cub::BlockScan<std::uint64_t, kWalkers>;
  __shared__ typename Scan::TempStorage storage;
  if (!check && block_refused(to.report)) return;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(payload);
  if (check && threadIdx.x == 0 && DgcLayout().load<DgcLayout::kCount>(payload) != entries)
    refuse(to.report, 0);
  std::uint64_t done = 0;  // positions before this round's entries
  for (std::uint64_t first = 0; first < entries; first += kWalkers) {
    const std::uint64_t i = first + threadIdx.x;
    const bool valid = i < entries;
    const std::uint32_t run = valid ? halves[half_of<DgcLayout::kRun>(i)] : 0;
    const std::uint16_t* low = halves + half_of<DgcLayout::kValue>(i);
    const std::uint32_t value = valid ? low[0] | static_cast<std::uint32_t>(low[1]) << 16 : 0;
    std::uint64_t next, total;  // the position after this entry's
    Scan(storage).InclusiveSum(valid ? std::uint64_t{run} + 1 : 0, next, total);
    next += done;
    done += total;
    if (check && valid && (next > to.n || !is_finite(float_of(value))))
      refuse(to.report, DgcLayout().entry_at<DgcLayout::kEntries, DgcLayout::kRun>(i));
    if (!check && valid && !is_run_filler(run, value)) {
      float& target = to.values[next - 1];
      target = to.add ? target + to.factor * float_of(value) : float_of(value);
    }
    __syncthreads();  // before the storage is used again
  }
}

}  // namespace

std::size_t runs_scratch(std::uint32_t most) {
  return aligned((std::size_t{most} + 1) * sizeof(std::uint64_t)) +
         scan_scratch(std::uint64_t{most} + 1);
}

void runs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                 std::byte* scratch, CudaReport* report, void* stream) {
  auto* slots = reinterpret_cast<std::uint64_t*>(scratch);
  const std::uint64_t items = std::uint64_t{most} + 1;
  count_slots_kernel<<<grid_of(items), kThreads, 0, stream_of(stream)>>>(selected, most, slots,
                                                                         report);
  check_launch("count runs");
  scan_exclusive(slots, items, scratch + aligned(items * sizeof *slots), stream);
  write_runs_kernel<<<grid_of(most), kThreads, 0, stream_of(stream)>>>(selected, most, slots,
                                                                       payload, report);
  check_launch("write runs");
}

void runs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to) {
  if (!to.trusted) {
    walk_runs_kernel<<<1, kWalkers, 0, stream_of(to.stream)>>>(payload, entries, true, to);
    check_launch("check runs");
  }
  if (!to.add) zero(to);
  walk_runs_kernel<<<1, kWalkers, 0, stream_of(to.stream)>>>(payload, entries, false, to);
  check_launch("apply runs");
}

}  // namespace gradwire::compressors::cuda
