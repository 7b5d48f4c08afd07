#include "compressors/codec.h"

#include <algorithm>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {

std::string_view name_of(AggregatePolicy policy) {
  switch (policy) {
    case AggregatePolicy::kSum:
      return "sum";
    case AggregatePolicy::kGather:
      return "gather";
    case AggregatePolicy::kRequantize:
      return "requantize";
    case AggregatePolicy::kServer:
      return "server";
  }
  return "?";
}

// The largest magnitude: what a scale-sharing codec without clipping proposes.
float Codec::local_scale(const TensorView& tensor) const {
  const std::uint32_t bits = kernels::max_magnitude_bits(tensor.data.data(), tensor.data.size());
  require_finite(name(), tensor, bits);
  return float_of(bits);
}

void Codec::encode_batch(std::span<EncodeJob> jobs, std::span<std::byte> scratch) const {
  for (EncodeJob& job : jobs) job.written = encode(job, scratch);
}

void Codec::decode_batch(std::span<const DecodeJob> jobs, std::span<std::byte> scratch) const {
  for (const DecodeJob& job : jobs) decode(job, scratch);
}

}  // namespace gradwire::compressors
