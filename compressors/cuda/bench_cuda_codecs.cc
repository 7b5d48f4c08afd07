#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compressors/codecs/sz/cuda_quantise.h"
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

/// `what` names the codec, and options that are not the default ones.
void bench(const CudaCodec& codec, const std::string& what, const DeviceBuffer<float>& values,
           const CudaStream& stream, double copy) {
  const std::size_t room = codec.max_encoded_size(kElements);
  DeviceBuffer<std::byte> payload(room + 8);
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
  std::vector<CudaReport> result(1);
  report.download(result);
  if (result[0].first_bad != kNothingBad)
    throw Error(ErrorKind::kFailure, "encode", codec.name(), "normal values were refused");
  print_row(what.c_str(), "encode", encoding, copy);
  if (!codec.decodes()) return;
  const CudaDecodeJob decode{.payload = payload.data(),
                             .payload_bytes = result[0].written,
                             .values = decoded.data(),
                             .n = kElements,
                             .report = report.data()};
  const double decoding = median_seconds(stream, [&] { codec.decode(decode, stream.get()); });
  report.download(result);
  if (result[0].first_bad != kNothingBad)
    throw Error(ErrorKind::kFailure, "decode", codec.name(), "its own payload was refused");
  print_row(what.c_str(), "decode", decoding, copy);
}

/// sz's stages that run on the device; the copy is of the values.
void bench_quantising(const DeviceBuffer<float>& values, const CudaStream& stream, double copy) {
  DeviceBuffer<std::int32_t> codes(kElements);
  DeviceBuffer<std::uint16_t> symbols(kElements);
  DeviceBuffer<std::uint32_t> counts(1024);
  DeviceBuffer<CudaReport> report(1);
  DeviceBuffer<float> decoded(kElements);
  print_row("sz", "quantise",
            median_seconds(stream,
                           [&] {
                             cuda_quantise(values.data(), kElements, 1e-5f, codes.data(),
                                           report.data(), stream.get());
                           }),
            copy);
  print_row("sz", "predict (2d) and count",
            median_seconds(stream,
                           [&] {
                             cuda_lorenzo_symbols(codes.data(), kElements, {4096, 512, 2},
                                                  symbols.data(), counts.data(), stream.get());
                           }),
            copy);
  print_row(
      "sz", "dequantise",
      median_seconds(
          stream,
          [&] { cuda_dequantise(codes.data(), kElements, 1e-5f, decoded.data(), stream.get()); }),
      copy);
}

const std::vector<std::pair<const char*, std::map<std::string, std::string>>> kRows = {
    {"none", {}},
    {"fp16", {}},
    {"bf16", {}},
    {"int8", {}},
    {"int8", {{"rounding", "stochastic"}}},
    {"minmax", {}},
    {"minmax", {{"rounding", "stochastic"}}},
    {"rowquant", {}},
    {"natural", {}},
    {"natural", {{"bits", "8"}}},
    {"dither", {}},
    {"qsgd", {}},
    {"qsgd", {{"norm", "2"}}},
    {"terngrad", {}},
    {"terngrad", {{"code", "base3"}}},
    {"ternary", {}},
    {"ternary", {{"bits", "4"}}},
    {"sign", {}},
    {"log", {}},
    {"topk", {}},
    {"topk", {{"selection", "sampled"}}},
    {"randomk", {}},
    {"dgc", {}},
    {"stc", {}},
};

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
  for (const auto& [name, options] : kRows) {
    const CudaCodecPtr codec = make_cuda_codec(name, options), fed = with_error_feedback(codec);
    std::string chosen;
    for (const auto& [option, value] : options) chosen += " " + option + "=" + value;
    bench(*codec, std::string(codec->name()) + chosen, values, stream, copy);
    bench(*fed, std::string(fed->name()) + chosen, values, stream, copy);
  }
  bench_quantising(values, stream, copy);
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
