#include "compressors/cuda/cuda_codec.h"

#include <algorithm>

#include "compressors/cuda/cuda_codecs.h"
#include "compressors/cuda/cuda_memory.h"

namespace gradwire::compressors {
namespace {

struct Maker {
  std::string_view codec;
  CudaCodecPtr (*make)(const OptionValues& options);
};

constexpr Maker kMakers[] = {
#define GRADWIRE_CODEC(name) {#name, make_cuda_##name},
#include "compressors/cuda_codec_rows.inc"
#undef GRADWIRE_CODEC
};

OptionValues checked_options(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  make_codec(name, options);  // refuses unknown names and bad options with the same words
  return OptionValues(find_codec(name)->options, options);
}

/// Calls call(part) for parts that one launch can take. `end(job)` is what its report says then.
template <class Job, class End, class Call>
void in_parts(std::span<const Job> jobs, void* stream, const End& end, const Call& call) {
  while (!jobs.empty()) {
    const auto part = jobs.first(std::min(jobs.size(), cuda::kMostTensors));
    jobs = jobs.subspan(part.size());
    cuda::TensorList<cuda::ReportEnd> reports;
    for (const Job& job : part) reports.push_back({job.report, end(job)});
    cuda::begin_reports(reports.span(), stream);
    call(part);
    cuda::finish_reports(reports.span(), stream);
  }
}

template <class Call>
void decode_in_parts(std::span<const CudaDecodeJob> jobs, void* stream, const Call& call) {
  in_parts(
      jobs, stream, [](const CudaDecodeJob& job) { return job.n; }, call);
}

}  // namespace

void CudaCodec::encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const {
  encode_batch({&job, 1}, scratch, stream);
}

void CudaCodec::decode(const CudaDecodeJob& job, void* stream) const {
  decode_batch({&job, 1}, stream);
}

void CudaCodec::decode_accumulate(const CudaDecodeJob& job, float factor, void* stream) const {
  decode_accumulate_batch({&job, 1}, factor, stream);
}

void CudaCodec::local_scale(const CudaScaleJob& job, std::byte* scratch, void* stream) const {
  local_scale_batch({&job, 1}, scratch, stream);
}

void CudaCodec::encode_batch(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                             void* stream) const {
  const auto size = [&](const CudaEncodeJob& job) {
    return has_fixed_size() ? max_encoded_size(job.spec()) : cuda::kWrittenByKernel;
  };
  in_parts(jobs, stream, size, [&](auto part) { enqueue_encode(part, scratch, stream); });
}

void CudaCodec::decode_batch(std::span<const CudaDecodeJob> jobs, void* stream) const {
  decode_in_parts(jobs, stream, [&](auto part) { enqueue_decode(part, stream); });
}

void CudaCodec::decode_accumulate_batch(std::span<const CudaDecodeJob> jobs, float factor,
                                        void* stream) const {
  decode_in_parts(jobs, stream,
                  [&](auto part) { enqueue_accumulate(part, factor, false, stream); });
}

void CudaCodec::local_scale_batch(std::span<const CudaScaleJob> jobs, std::byte* scratch,
                                  void* stream) const {
  in_parts(
      jobs, stream, [](const CudaScaleJob&) { return sizeof(float); },
      [&](auto part) { enqueue_local_scale(part, scratch, stream); });
}

std::size_t CudaCodec::batch_scratch_size(std::span<const TensorSpec> tensors) const {
  std::size_t sum = 0, largest = 0;
  for (const TensorSpec& tensor : tensors) {
    const std::size_t size = cuda::aligned(scratch_size(tensor));
    sum += size;
    largest = std::max(largest, size);
  }
  return encodes_one_by_one() ? largest : sum;
}

void CudaCodec::enqueue_local_scale(std::span<const CudaScaleJob>, std::byte*, void*) const {
  throw Error(ErrorKind::kUsage, "find a scale with", name(), "it has none that workers share");
}

void CudaCodec::enqueue_encode_with_residual(std::span<const CudaEncodeJob> jobs,
                                             std::span<float* const> residuals, std::byte* scratch,
                                             void* stream) const {
  GRADWIRE_ASSERT(has_fixed_size() && decodes());
  cuda::TensorList<cuda::EncodeTensor> tensors;
  cuda::TensorList<CudaEncodeJob> sums;
  cuda::TensorList<CudaDecodeJob> sent;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    CudaEncodeJob job = jobs[i];
    tensors.push_back(tensor_of(job, nullptr, stream));
    job.values = residuals[i];
    sums.push_back(job);
    sent.push_back({.payload = job.payload,
                    .payload_bytes = max_encoded_size(job.spec()),
                    .values = residuals[i],
                    .n = job.n,
                    .report = job.report,
                    .shape = job.shape});
  }
  cuda::add_to_residuals(tensors.span(), residuals);
  enqueue_encode(sums.span(), scratch, stream);
  enqueue_accumulate(sent.span(), -1.0f, true, stream);
}

CudaCodecPtr make_cuda_codec(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  const OptionValues values = checked_options(name, options);
  for (const auto& [codec, make] : kMakers)
    if (codec == name) return make(values);
  throw Error(ErrorKind::kCapability, "make codec", name, "it has no CUDA version");
}

std::string why_no_cuda_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices > 0 ? "" : "no CUDA device was found";
}

}  // namespace gradwire::compressors
