#pragma once
#include "compressors/cuda/launch.cuh"

/// One launch for all tensors of a batch. What a kernel does for one of them is an Item, and those
/// of the batch are the kernel's arguments: nothing is copied to the device beforehand, so there is
/// nothing to wait for, or to keep until the stream has come that far.
///
///   static constexpr unsigned kBlockThreads;
///   std::uint64_t units() const;                     // on the host: pieces of work for a block
///   __device__ void run(std::uint64_t unit) const;   // by all threads of a block
namespace gradwire::compressors::cuda {

template <class Item, std::size_t kMost>
struct Table {
  Item items[kMost];
  std::uint64_t ends[kMost];  ///< units of an item and of those before it
  unsigned count;

  /// The item to which a unit belongs: the first that ends behind it.
  __device__ unsigned item_of(std::uint64_t unit) const {
    unsigned first = 0, last = count - 1;
    while (first < last) {
      const unsigned middle = (first + last) / 2;
      if (unit < ends[middle])
        last = middle;
      else
        first = middle + 1;
    }
    return first;
  }
};

template <class Item, std::size_t kMost>
__global__ void __launch_bounds__(Item::kBlockThreads)
    run_items_kernel(const __grid_constant__ Table<Item, kMost> table) {
  const std::uint64_t units = table.ends[table.count - 1];
  for (std::uint64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const unsigned i = kMost == 1 ? 0 : table.item_of(unit);
    table.items[i].run(i == 0 ? unit : unit - table.ends[i - 1]);
  }
}

template <std::size_t kMost, class MakeItem>
void launch_table(std::size_t count, void* stream, const char* what, const MakeItem& make) {
  using Item = decltype(make(std::size_t{0}));
  static_assert(sizeof(Table<Item, kMost>) <= (kMostTensors > 24 ? 32764 : 4096));
  Table<Item, kMost> table;
  table.count = static_cast<unsigned>(count);
  std::uint64_t units = 0;
  for (std::size_t i = 0; i < count; ++i) {
    table.items[i] = make(i);
    table.ends[i] = units += table.items[i].units();
  }
  if (units == 0) return;
  const auto blocks = static_cast<unsigned>(units < 65536 ? units : 65536);
  run_items_kernel<Item, kMost><<<blocks, Item::kBlockThreads, 0, stream_of(stream)>>>(table);
  check_launch(what);
}

/// Runs make(0), ... make(count - 1), each an Item, in one launch; in none if there is no work.
template <class MakeItem>
void launch_items(std::size_t count, void* stream, const char* what, const MakeItem& make) {
  GRADWIRE_ASSERT(count > 0 && count <= kMostTensors);
  if (count == 1)
    launch_table<1>(count, stream, what, make);
  else
    launch_table<kMostTensors>(count, stream, what, make);
}

inline void* common_stream(Encodes from) {
  return from[0].source.stream;
}
inline void* common_stream(Decodes to) {
  return to[0].sink.stream;
}

/// Units of `items` things where a unit has `in_unit` of them.
inline std::uint64_t units_of(std::uint64_t items, std::uint64_t in_unit) {
  return items / in_unit + (items % in_unit != 0 ? 1 : 0);
}

/// For items that do something to each of n things: the i of them that are this thread's.
inline constexpr unsigned kEachUnit = 4 * kThreads;
template <class Call>
__device__ void for_each_of(std::uint64_t unit, std::uint64_t n, const Call& call) {
  const std::uint64_t first = unit * kEachUnit + threadIdx.x;
#pragma unroll
  for (unsigned j = 0; j < kEachUnit / kThreads; ++j)
    if (first + j * kThreads < n) call(first + j * kThreads);
}

}  // namespace gradwire::compressors::cuda
