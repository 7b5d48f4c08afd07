#pragma once
#include "compressors/cuda/batch.cuh"
#include "compressors/ordered_sum.h"

/// Reductions of a tensor, or of each of its segments (buckets, rows), in the order of
/// compressors/ordered_sum.h: half a warp takes a block of 4,096 elements, each lane one of the 16
/// partial sums; blocks are then combined pairwise, neighbours first.
///
/// A Part is what is known of some elements; its default is that of none, and its size a multiple
/// of 4:
///   static constexpr bool kPivot;          // whether `pivot` below is the first element, or 0
///   void take(float value, double pivot);
///   void merge(const Part& later);
/// A Finish makes something of a segment's whole: void operator()(std::uint64_t segment, Part).
namespace gradwire::compressors::cuda {

inline constexpr unsigned kLanes = 16;
static_assert(kLanes == kSumPartials);
inline constexpr unsigned kCombineThreads = 1024;

/// `length` elements each, but the last.
struct Segments {
  std::uint64_t n, length, count, chunks;

  GRADWIRE_HD std::uint64_t begin(std::uint64_t segment) const { return segment * length; }
  GRADWIRE_HD std::uint64_t elements(std::uint64_t segment) const {
    return n - begin(segment) < length ? n - begin(segment) : length;
  }
};

inline Segments segments_of(std::uint64_t n, std::uint64_t length) {
  const std::uint64_t longest = length < n ? length : n;
  return {n, length, n == 0 ? 0 : (n - 1) / length + 1, sum_blocks(longest)};
}
/// One segment, even of no elements.
inline Segments whole_tensor(std::uint64_t n) {
  return {n, n > 0 ? n : 1, 1, n > 0 ? sum_blocks(n) : 1};
}

/// Elements' magnitudes alone.
struct LargestPart {
  static constexpr bool kPivot = false;
  std::uint32_t largest = 0;
  __device__ void take(float value, double) { largest = max(largest, magnitude_bits(value)); }
  __device__ void merge(const LargestPart& later) { largest = max(largest, later.largest); }
};

/// The sum of magnitudes.
struct MagnitudePart {
  static constexpr bool kPivot = false;
  double sum = 0;
  __device__ void take(float value, double) {
    sum += static_cast<double>(float_of(magnitude_bits(value)));
  }
  __device__ void merge(const MagnitudePart& later) { sum += later.sum; }
};

/// Sums of d = value - pivot and of d^2.
template <bool kAboutFirst>
struct MomentsPart {
  static constexpr bool kPivot = kAboutFirst;
  double sum = 0, sum_squares = 0;
  std::uint32_t largest = 0, unused = 0;
  __device__ void take(float value, double pivot) {
    const double difference = static_cast<double>(value) - pivot;
    sum += difference;
    sum_squares += difference * difference;
    largest = max(largest, magnitude_bits(value));
  }
  __device__ void merge(const MomentsPart& later) {
    sum += later.sum;
    sum_squares += later.sum_squares;
    largest = max(largest, later.largest);
  }
};

template <class Part>
__device__ Part part_from_lane_below(const Part& part, int distance) {
  static_assert(sizeof(Part) % 4 == 0);
  std::uint32_t words[sizeof(Part) / 4];
  memcpy(words, &part, sizeof part);
#pragma unroll
  for (std::uint32_t& word : words) word = __shfl_down_sync(0xFFFFFFFFu, word, distance, kLanes);
  Part other;
  memcpy(&other, words, sizeof other);
  return other;
}

inline constexpr unsigned kAhead = 8;

/// Blocks of threads take kUnitChunks chunks each, whatever their segments.
inline constexpr unsigned kUnitChunks = kThreads / kLanes;

template <class Part>
struct ReduceChunks {
  static constexpr unsigned kBlockThreads = kThreads;
  const float* values;
  Segments segments;
  Part* parts;
  CudaReport* report;

  std::uint64_t total() const { return segments.count * segments.chunks; }
  std::uint64_t units() const { return units_of(total(), kUnitChunks); }

  /// values[e], values[e + kLanes], ... below `end`, kAhead of them: all loads come before the
  /// sums, which follow one another.
  __device__ void take_ahead(Part& part, std::uint64_t e, std::uint64_t end, double pivot) const {
    float ahead[kAhead];
#pragma unroll
    for (unsigned j = 0; j < kAhead; ++j)
      ahead[j] = e + j * kLanes < end ? values[e + j * kLanes] : 0.0f;
#pragma unroll
    for (unsigned j = 0; j < kAhead; ++j) {
      if (e + j * kLanes >= end) return;
      if (!is_finite(ahead[j])) refuse(report, e + j * kLanes);
      part.take(ahead[j], pivot);
    }
  }

  // All lanes stay for the shuffles.
  __device__ void run(std::uint64_t unit) const {
    const double pivot = Part::kPivot && segments.n > 0 ? values[0] : 0.0;
    const unsigned lane = threadIdx.x % kLanes;
    const std::uint64_t at = unit * kUnitChunks + threadIdx.x / kLanes;
    const bool inside = at < segments.count * segments.chunks;
    Part part;
    if (inside) {
      const std::uint64_t segment = at / segments.chunks, start = segments.begin(segment);
      const std::uint64_t stop = start + segments.elements(segment);
      const std::uint64_t begin = start + at % segments.chunks * kSumBlock;
      const std::uint64_t end = begin + kSumBlock < stop ? begin + kSumBlock : stop;
      for (std::uint64_t e = begin + lane; e < end; e += kLanes * kAhead)
        take_ahead(part, e, end, pivot);
    }
    for (int half = kLanes / 2; half > 0; half /= 2) part.merge(part_from_lane_below(part, half));
    if (lane == 0 && inside) parts[at] = part;
  }
};

/// Step 4 of compressors/ordered_sum.h where a segment has several chunks, by a block of threads;
/// a thread a segment where it has one.
template <class Part, class Finish>
struct CombineChunks {
  static constexpr unsigned kBlockThreads = kCombineThreads;
  Part* parts;
  Segments segments;
  Finish finish;
  CudaReport* report;

  std::uint64_t units() const {
    return segments.chunks == 1 ? units_of(segments.count, kCombineThreads) : segments.count;
  }

  __device__ void run(std::uint64_t unit) const {
    if (block_refused(report)) return;
    if (segments.chunks == 1) {
      const std::uint64_t s = unit * kCombineThreads + threadIdx.x;
      if (s < segments.count) finish(s, parts[s]);
      return;
    }
    Part* own = parts + unit * segments.chunks;
    const std::uint64_t chunks = (segments.elements(unit) + kSumBlock - 1) / kSumBlock;
    for (std::uint64_t apart = 1; apart < chunks; apart *= 2) {
      for (std::uint64_t i = threadIdx.x * 2 * apart; i + apart < chunks;
           i += 2 * apart * kCombineThreads)
        own[i].merge(own[i + apart]);
      __syncthreads();
    }
    if (threadIdx.x == 0) finish(unit, own[0]);
  }
};

template <class Part>
std::size_t reduce_scratch(const Segments& segments) {
  return aligned(segments.count * segments.chunks * sizeof(Part));
}

/// `segments(tensor)` says how a tensor is cut, `finish(tensor)` gives its Finish, which is not
/// called where elements that are not finite were refused. A tensor's scratch begins with
/// reduce_scratch<Part>() bytes.
template <class Part, class CutTensor, class MakeFinish>
void reduce(Encodes from, const CutTensor& segments, const MakeFinish& finish) {
  using Finish = decltype(finish(from[0]));
  const auto parts = [&](std::size_t i) { return reinterpret_cast<Part*>(from[i].scratch); };
  launch_items(from.size(), common_stream(from), "reduce tensors", [&](std::size_t i) {
    const Source& source = from[i].source;
    return ReduceChunks<Part>{source.values, segments(from[i]), parts(i), source.report};
  });
  launch_items(from.size(), common_stream(from), "combine what was reduced", [&](std::size_t i) {
    return CombineChunks<Part, Finish>{parts(i), segments(from[i]), finish(from[i]),
                                       from[i].source.report};
  });
}

inline Segments whole_tensor(const EncodeTensor& tensor) {
  return whole_tensor(tensor.source.n);
}

}  // namespace gradwire::compressors::cuda
