#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <vector>

#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"

/// Encoding and decoding of 256 MiB of normal values by each codec, as GB/s of fp32 and as a share
/// of a copy of those values on the same device in the same run. Prints a Markdown table.
namespace gradwire::compressors {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr std::size_t kElements = kBytes / sizeof(float);
constexpr int kRepetitions = 11;

/// Median seconds by events, after one call that is not counted.
double median_seconds(const CudaStream& stream, const std::function<void()>& call) {
  CudaEvent start, end;
  std::vector<double> times;
  for (int i = 0; i <= kRepetitions; ++i) {
    start.record(stream);
    call();
    end.record(stream);
    end.synchronize();
    if (i > 0) times.push_back(end.seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<float> normal_values() {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal(0.0f, 0.01f);
  std::vector<float> values(kElements);
  const std::size_t drawn = 1 << 22;  // repeated: drawing all would take longer than the kernels
  std::generate_n(values.begin(), drawn, [&] { return normal(engine); });
  for (std::size_t e = drawn; e < kElements; ++e) values[e] = values[e - drawn];
  return values;
}

void print_row(const char* what, const char* action, double seconds, double copy) {
  std::printf("| %s | %s | %.3f | %.1f | %.0f %% |\n", what, action, 1e3 * seconds,
              1e-9 * static_cast<double>(kBytes) / seconds, 100 * copy / seconds);
  std::fflush(stdout);
}

void bench(const CudaCodec& codec, const DeviceBuffer<float>& values, const CudaStream& stream,
           double copy) {
  DeviceBuffer<std::byte> payload(codec.max_encoded_size(kElements) + 8);
  DeviceBuffer<std::byte> state(codec.state_size(kElements) + 8);
  DeviceBuffer<std::byte> scratch(codec.scratch_size(kElements) + 256);
  DeviceBuffer<float> decoded(kElements);
  DeviceBuffer<CudaReport> report(1);
  state.clear();
  check_cuda(cudaDeviceSynchronize(), "clear a state");
  const CudaEncodeJob encode{.values = values.data(),
                             .n = kElements,
                             .stream = {1, 0, 0, 0},
                             .state = state.data(),
                             .payload = payload.data(),
                             .report = report.data()};
  const double encoding =
      median_seconds(stream, [&] { codec.encode(encode, scratch.data(), stream.get()); });
  const CudaDecodeJob decode{.payload = payload.data(),
                             .payload_bytes = codec.max_encoded_size(kElements),
                             .values = decoded.data(),
                             .n = kElements,
                             .report = report.data()};
  const double decoding = median_seconds(stream, [&] { codec.decode(decode, stream.get()); });
  std::vector<CudaReport> result(1);
  report.download(result);
  if (result[0].first_bad != kNothingBad)
    throw Error(ErrorKind::kFailure, "decode", codec.name(), "its own payload was refused");
  const std::string name(codec.name());
  print_row(name.c_str(), "encode", encoding, copy);
  print_row(name.c_str(), "decode", decoding, copy);
}

void print_table() {
  const CudaStream stream;
  DeviceBuffer<float> values(kElements);
  values.upload(normal_values());
  check_cuda(cudaDeviceSynchronize(), "upload values");
  double copy = 0;
  {
    DeviceBuffer<float> target(kElements);
    copy = median_seconds(stream, [&] {
      check_cuda(cudaMemcpyAsync(target.data(), values.data(), kBytes, cudaMemcpyDeviceToDevice,
                                 static_cast<cudaStream_t>(stream.get())),
                 "copy on the device");
    });
  }
  std::printf("| codec | action | ms for 256 MiB | GB/s of fp32 | share of a device copy |\n");
  std::printf("|---|---|---|---|---|\n");
  print_row("device copy", "copy", copy, copy);
  for (const char* name : {"none", "fp16", "terngrad", "topk"}) {
    const CudaCodecPtr codec = make_cuda_codec(name);
    bench(*codec, values, stream, copy);
    bench(*with_error_feedback(codec), values, stream, copy);
  }
}

}  // namespace
}  // namespace gradwire::compressors

int main() {
  const std::string reason = gradwire::compressors::why_no_cuda_device();
  if (!reason.empty()) {
    std::fprintf(stderr, "bench_compressors_cuda: no CUDA device can be used (%s)\n",
                 reason.c_str());
    return 1;
  }
  try {
    gradwire::compressors::print_table();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_compressors_cuda: %s\n", error.what());
    return 1;
  }
}
