#pragma once
#include "compressors/cuda/batch.cuh"

/// Eight neighbours a thread: what streams through a device at its memory's speed needs accesses of
/// 16 bytes, and several of them under way before the first is used.
namespace gradwire::compressors::cuda {

inline constexpr unsigned kEight = 8;
inline constexpr unsigned kTile = kThreads * kEight;  ///< elements of a block of threads

template <class Word>
struct alignas(16) SixteenBytes {
  static constexpr unsigned kWords = 16 / sizeof(Word);
  Word words[kWords];
};

template <class Word>
__device__ bool eight_are_aligned(const Word* from, std::uint64_t first, std::uint64_t n) {
  return first + kEight <= n && reinterpret_cast<std::uintptr_t>(from + first) % 16 == 0;
}

/// values[first], ... , 8 of them; 0 beyond n.
template <class Word>
__device__ void load_eight(const Word* values, std::uint64_t first, std::uint64_t n, Word* eight) {
  using Vector = SixteenBytes<Word>;
  const Word* from = values + first;
  if (eight_are_aligned(values, first, n)) {
#pragma unroll
    for (unsigned v = 0; v < kEight / Vector::kWords; ++v) {
      const Vector vector = reinterpret_cast<const Vector*>(from)[v];
#pragma unroll
      for (unsigned j = 0; j < Vector::kWords; ++j) eight[v * Vector::kWords + j] = vector.words[j];
    }
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < kEight; ++j) eight[j] = first + j < n ? from[j] : Word{0};
}

template <class Word>
__device__ void store_eight(const Word* eight, std::uint64_t first, std::uint64_t n, Word* values) {
  using Vector = SixteenBytes<Word>;
  Word* to = values + first;
  if (eight_are_aligned(values, first, n)) {
#pragma unroll
    for (unsigned v = 0; v < kEight / Vector::kWords; ++v) {
      Vector vector;
#pragma unroll
      for (unsigned j = 0; j < Vector::kWords; ++j) vector.words[j] = eight[v * Vector::kWords + j];
      reinterpret_cast<Vector*>(to)[v] = vector;
    }
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < kEight; ++j)
    if (first + j < n) to[j] = eight[j];
}

/// Where this thread's eight of a unit of kTile elements begin.
__device__ inline std::uint64_t first_of_eight(std::uint64_t unit) {
  return unit * kTile + std::uint64_t{threadIdx.x} * kEight;
}

}  // namespace gradwire::compressors::cuda
