#include "compressors/cuda/cuda_codec.h"

#include "compressors/cuda/cuda_codecs.h"
#include "compressors/cuda/cuda_memory.h"

namespace gradwire::compressors {
namespace {

OptionValues checked_options(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  make_codec(name, options);  // refuses unknown names and bad options with the same words
  return OptionValues(find_codec(name)->options, options);
}

}  // namespace

void CudaCodec::encode(const CudaEncodeJob& job, std::byte* scratch, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_encode(job, scratch, stream);
  const std::uint64_t size =
      has_fixed_size() ? max_encoded_size(job.spec()) : cuda::kWrittenByKernel;
  cuda::finish_report(job.report, size, stream);
}

void CudaCodec::local_scale(const CudaScaleJob& job, std::byte* scratch, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_local_scale(job, scratch, stream);
  cuda::finish_report(job.report, sizeof(float), stream);
}

void CudaCodec::enqueue_local_scale(const CudaScaleJob&, std::byte*, void*) const {
  throw Error(ErrorKind::kUsage, "find a scale with", name(), "it has none that workers share");
}

void CudaCodec::enqueue_encode_with_residual(const CudaEncodeJob& job, float* residual,
                                             std::byte* scratch, void* stream) const {
  GRADWIRE_ASSERT(has_fixed_size() && decodes());
  const cuda::Source tensor = source_of(job, stream);
  cuda::check_sums(tensor, residual);
  cuda::add(tensor, residual);
  CudaEncodeJob sums = job;
  sums.values = residual;
  enqueue_encode(sums, scratch, stream);
  const CudaDecodeJob sent{.payload = job.payload,
                           .payload_bytes = max_encoded_size(job.spec()),
                           .values = residual,
                           .n = job.n,
                           .report = job.report,
                           .shape = job.shape};
  enqueue_accumulate(sent, -1.0f, true, stream);
}

void CudaCodec::decode(const CudaDecodeJob& job, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_decode(job, stream);
  cuda::finish_report(job.report, job.n, stream);
}

void CudaCodec::decode_accumulate(const CudaDecodeJob& job, float factor, void* stream) const {
  cuda::begin_report(job.report, stream);
  enqueue_accumulate(job, factor, false, stream);
  cuda::finish_report(job.report, job.n, stream);
}

void CudaCodec::encode_batch(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                             void* stream) const {
  for (const CudaEncodeJob& job : jobs) encode(job, scratch, stream);
}

void CudaCodec::decode_batch(std::span<const CudaDecodeJob> jobs, void* stream) const {
  for (const CudaDecodeJob& job : jobs) decode(job, stream);
}

CudaCodecPtr make_cuda_codec(std::string_view name,
                             const std::map<std::string, std::string>& options) {
  const OptionValues values = checked_options(name, options);
  for (const auto make : {make_cuda_float_codec, make_cuda_level_codec, make_cuda_power_codec,
                          make_cuda_ternary_codec, make_cuda_sparse_codec})
    if (CudaCodecPtr codec = make(name, values)) return codec;
  throw Error(ErrorKind::kCapability, "make codec", name, "it has no CUDA version");
}

std::string why_no_cuda_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices > 0 ? "" : "no CUDA device was found";
}

}  // namespace gradwire::compressors
