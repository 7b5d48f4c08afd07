#include "compressors/arithmetic/golomb.h"
#include "compressors/codecs/stc/cuda.h"
#include "compressors/cuda/reduce.cuh"

/// stc: the mean magnitude of what is selected, then the gaps in Golomb-Rice codes with a sign bit
/// each. Reading them is left to the CPU: every code begins where the one before ends.
namespace gradwire::compressors::cuda {
namespace {

constexpr int kSignBits = 1;

struct MeanFinish {
  std::uint32_t k;
  float* mean;
  __device__ void operator()(std::uint64_t, const MagnitudePart& part) const {
    *mean = k == 0 ? 0.0f : static_cast<float>(part.sum / static_cast<double>(k));
  }
};

__device__ std::uint64_t gap_before(const DeviceSelection& selected, std::uint64_t i) {
  const std::uint64_t next = i == 0 ? 0 : std::uint64_t{selected.indices[i - 1]} + 1;
  return selected.indices[i] - next;
}

/// bits[i] = the width of code i; 0 for bits[k].
__global__ void count_bits_kernel(DeviceSelection selected, std::uint32_t k, int b,
                                  std::uint64_t* bits, const CudaReport* report) {
  const bool skip = refused(report);
  for (std::uint64_t i = first_item(); i <= k; i += stride())
    bits[i] = skip || i == k ? 0
                             : golomb_ones(gap_before(selected, i), b) +
                                   static_cast<std::uint64_t>(golomb_tail_bits(b, kSignBits));
}

/// Ors `width` bits in at bit `at`, MSB-first over bytes; `words` began as zeros.
__device__ void put_bits(std::uint32_t* words, std::uint64_t at, std::uint64_t value, int width) {
  while (width > 0) {
    const int room = 32 - static_cast<int>(at % 32), take = room < width ? room : width;
    const auto part =
        static_cast<std::uint32_t>(value >> (width - take)) & (0xFFFFFFFFu >> (32 - take));
    atomicOr(words + at / 32, __byte_perm(part << (room - take), 0, 0x0123));
    at += static_cast<std::uint64_t>(take);
    width -= take;
  }
}

__global__ void write_codes_kernel(DeviceSelection selected, std::uint32_t k, int b,
                                   const std::uint64_t* bits, std::uint32_t* words,
                                   const CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < k; i += stride()) {
    const std::uint64_t gap = gap_before(selected, i);
    std::uint64_t at = bits[i], ones = golomb_ones(gap, b);
    for (; ones > 0; ones -= min(ones, std::uint64_t{32})) {
      const int width = static_cast<int>(min(ones, std::uint64_t{32}));
      put_bits(words, at, 0xFFFFFFFFu, width);
      at += static_cast<std::uint64_t>(width);
    }
    const std::uint32_t negative = selected.values[i] < 0.0f ? 1 : 0;
    put_bits(words, at, golomb_tail(gap, negative, b, kSignBits), golomb_tail_bits(b, kSignBits));
  }
}

__global__ void write_header_kernel(const float* mean, std::uint32_t k, StcFormat format,
                                    const std::uint64_t* bits, std::uint32_t* payload,
                                    CudaReport* report) {
  if (refused(report)) return;
  if (format.header == 8) payload[0] = k;
  payload[format.header / 4 - 1] = bits_of(*mean);
  report->written = format.header + (bits[k] + 7) / 8;
}

__global__ void subtract_kernel(DeviceSelection selected, std::uint32_t k, const float* mean,
                                float* residual, const CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < k; i += stride()) {
    const float value = selected.values[i];
    const float sent = float_of(bits_of(*mean) ^ (value < 0.0f ? 0x80000000u : 0u));
    residual[selected.indices[i]] = value - sent;
  }
}

struct Scratch {
  float* mean;
  CudaReport* report;  ///< of the mean alone: values of a refused tensor may be anything
  std::byte* parts;
  std::uint64_t* bits;  ///< [k + 1]
  std::byte* scan;
  std::size_t codes_at;
};

Scratch scratch_in(std::byte* base, std::uint32_t k) {
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    std::byte* part = base + at;
    at += aligned(bytes);
    return part;
  };
  Scratch s;
  s.mean = reinterpret_cast<float*>(take(sizeof(float)));
  s.report = reinterpret_cast<CudaReport*>(take(sizeof(CudaReport)));
  s.parts = take(reduce_scratch<MagnitudePart>(whole_tensor(k)));
  s.bits = reinterpret_cast<std::uint64_t*>(take((std::size_t{k} + 1) * sizeof(std::uint64_t)));
  s.scan = take(scan_scratch(std::uint64_t{k} + 1));
  s.codes_at = at;
  return s;
}

std::size_t word_bytes(std::uint64_t bytes) {
  return (bytes + 3) / 4 * 4;
}

}  // namespace

std::size_t stc_scratch(std::uint32_t k, std::uint64_t most_bytes) {
  return scratch_in(nullptr, k).codes_at + aligned(word_bytes(most_bytes));
}

void stc_encode(const DeviceSelection& selected, std::uint32_t k, const StcFormat& format,
                std::byte* payload, std::byte* scratch, CudaReport* report, void* stream) {
  const Scratch s = scratch_in(scratch, k);
  const cudaStream_t cuda_stream = stream_of(stream);
  const ReportEnd own_report{s.report, k};
  begin_reports({&own_report, 1}, stream);
  const EncodeTensor values{
      {selected.values, k, {}, 0, s.report, stream}, nullptr, s.parts, k, -1.0f};
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<MagnitudePart>(Encodes(&values, 1), whole, [&](const EncodeTensor&) {
    return MeanFinish{k, s.mean};
  });
  count_bits_kernel<<<grid_of(std::uint64_t{k} + 1), kThreads, 0, cuda_stream>>>(
      selected, k, format.b, s.bits, report);
  check_launch("count Golomb-Rice bits");
  scan_exclusive(s.bits, std::uint64_t{k} + 1, s.scan, stream);
  auto* words = reinterpret_cast<std::uint32_t*>(scratch + s.codes_at);
  check_cuda(cudaMemsetAsync(words, 0, word_bytes(format.most_bytes), cuda_stream), "clear codes");
  write_codes_kernel<<<grid_of(k), kThreads, 0, cuda_stream>>>(selected, k, format.b, s.bits, words,
                                                               report);
  check_launch("write Golomb-Rice codes");
  check_cuda(cudaMemcpyAsync(payload + format.header, words, format.most_bytes,
                             cudaMemcpyDeviceToDevice, cuda_stream),
             "copy codes");
  write_header_kernel<<<1, 1, 0, cuda_stream>>>(s.mean, k, format, s.bits,
                                                reinterpret_cast<std::uint32_t*>(payload), report);
  check_launch("write an stc header");
}

void stc_subtract(const DeviceSelection& selected, std::uint32_t k, std::byte* scratch,
                  float* residual, const CudaReport* report, void* stream) {
  subtract_kernel<<<grid_of(k), kThreads, 0, stream_of(stream)>>>(
      selected, k, scratch_in(scratch, k).mean, residual, report);
  check_launch("subtract means");
}

}  // namespace gradwire::compressors::cuda
