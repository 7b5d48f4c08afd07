#include "compressors/arithmetic/bfloat.h"
#include "compressors/arithmetic/half.h"
#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors::cuda {
namespace {

__global__ void begin_kernel(CudaReport* report) {
  *report = CudaReport{0, kNothingBad};
}

__global__ void finish_kernel(CudaReport* report, std::uint64_t written) {
  if (refused(report))
    report->written = 0;
  else if (written != kWrittenByKernel)
    report->written = written;
}

__global__ void check_sums_kernel(Source from, const float* addend) {
  for (std::uint64_t i = first_item(); i < from.n; i += stride())
    if (!is_finite(from.values[i] + addend[i])) refuse(from.report, i);
}

__global__ void add_kernel(Source from, float* out) {
  if (refused(from.report)) return;
  for (std::uint64_t i = first_item(); i < from.n; i += stride()) out[i] = from.values[i] + out[i];
}

struct FloatFormat {
  using Word = float;
  __device__ static float from_float(float value, bool) { return value; }
  __device__ static float to_float(float word) { return word; }
};
struct HalfFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return half_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_half(word); }
};
struct BfloatFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return bfloat_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_bfloat(word); }
};

template <class Format>
__global__ void encode_kernel(Source from, bool saturate, typename Format::Word* words) {
  for (std::uint64_t i = first_item(); i < from.n; i += stride()) {
    const float value = from.values[i];
    if (!is_finite(value)) refuse(from.report, i);
    words[i] = Format::from_float(value, saturate);
  }
}

template <class Format, bool kAdd>
__global__ void decode_kernel(const typename Format::Word* words, Sink to) {
  if (refused(to.report)) return;
  for (std::uint64_t i = first_item(); i < to.n; i += stride()) {
    const float value = Format::to_float(words[i]);
    to.values[i] = kAdd ? to.values[i] + to.factor * value : value;
  }
}

__global__ void store_kernel(float value, float* target) {
  *target = value;
}

template <class Format>
void encode(const Source& from, bool saturate, std::byte* payload) {
  encode_kernel<Format><<<grid_of(from.n), kThreads, 0, stream_of(from.stream)>>>(
      from, saturate, reinterpret_cast<typename Format::Word*>(payload));
  check_launch("encode a tensor");
}

template <class Format>
void decode(const std::byte* payload, const Sink& to) {
  const auto kernel = to.add ? decode_kernel<Format, true> : decode_kernel<Format, false>;
  kernel<<<grid_of(to.n), kThreads, 0, stream_of(to.stream)>>>(
      reinterpret_cast<const typename Format::Word*>(payload), to);
  check_launch("decode a tensor");
}

}  // namespace

void begin_report(CudaReport* report, void* stream) {
  begin_kernel<<<1, 1, 0, stream_of(stream)>>>(report);
  check_launch("begin a report");
}

void finish_report(CudaReport* report, std::uint64_t written, void* stream) {
  finish_kernel<<<1, 1, 0, stream_of(stream)>>>(report, written);
  check_launch("finish a report");
}

void check_sums(const Source& from, const float* addend) {
  check_sums_kernel<<<grid_of(from.n), kThreads, 0, stream_of(from.stream)>>>(from, addend);
  check_launch("check sums");
}

void add(const Source& from, float* out) {
  add_kernel<<<grid_of(from.n), kThreads, 0, stream_of(from.stream)>>>(from, out);
  check_launch("add values");
}

void float_encode(const Source& from, std::byte* payload) {
  encode<FloatFormat>(from, false, payload);
}
void float_decode(const std::byte* payload, const Sink& to) {
  decode<FloatFormat>(payload, to);
}
void half_encode(const Source& from, bool saturate, std::byte* payload) {
  encode<HalfFormat>(from, saturate, payload);
}
void half_decode(const std::byte* payload, const Sink& to) {
  decode<HalfFormat>(payload, to);
}
void bfloat_encode(const Source& from, bool saturate, std::byte* payload) {
  encode<BfloatFormat>(from, saturate, payload);
}
void bfloat_decode(const std::byte* payload, const Sink& to) {
  decode<BfloatFormat>(payload, to);
}

void store_float(float value, float* target, void* stream) {
  store_kernel<<<1, 1, 0, stream_of(stream)>>>(value, target);
  check_launch("store a scale");
}

void zero(const Sink& to) {
  check_cuda(cudaMemsetAsync(to.values, 0, to.n * sizeof(float), stream_of(to.stream)),
             "clear values");
}

}  // namespace gradwire::compressors::cuda
