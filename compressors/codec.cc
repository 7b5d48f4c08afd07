#include "compressors/codec.h"

#include <cmath>

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"
#include "compressors/ranges.h"

namespace gradwire::compressors {
namespace {

[[noreturn]] void refuse_overflow(std::string_view codec, std::string_view tensor,
                                  std::span<const float> sums) {
  std::size_t e = 0;
  while (std::isfinite(sums[e])) ++e;
  refuse_tensor(codec, tensor,
                "the tensor and its residual overflow at element " + std::to_string(e));
}

}  // namespace

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

std::string_view name_of(CodecFamily family) {
  switch (family) {
    case CodecFamily::kDense:
      return "dense";
    case CodecFamily::kSparse:
      return "sparse";
    case CodecFamily::kWeights:
      return "weights";
    case CodecFamily::kActivations:
      return "activations";
  }
  return "?";
}

std::size_t TensorSpec::columns() const {
  return shape.size() < 2 ? n : static_cast<std::size_t>(shape.back());
}

std::size_t TensorSpec::rows() const {
  return columns() == 0 ? 1 : n / columns();
}

// The largest magnitude: what a scale-sharing codec without clipping proposes.
float Codec::local_scale(const TensorView& tensor) const {
  const std::uint32_t bits = kernels::max_magnitude_bits(tensor.data.data(), tensor.data.size());
  require_finite(name(), tensor, bits);
  return float_of(bits);
}

float Codec::proposed_scale(const TensorView& tensor, std::span<const std::byte>,
                            std::span<std::byte>) const {
  return local_scale(tensor);
}

void Codec::encode_terms(const TermsJob& job, std::span<std::byte>) const {
  GRADWIRE_ASSERT(sum_terms() != nullptr);
  sum_terms()->to_terms(job.tensor, job.side, job.draws, job.terms);
}

std::size_t Codec::encode_with_residual(EncodeJob& job, std::span<float> residual,
                                        std::span<std::byte> scratch) const {
  const TensorView tensor = job.tensor;
  GRADWIRE_ASSERT(residual.size() == tensor.data.size());
  const auto require_finite_tensor = [&] {
    require_finite(name(), tensor, shared_magnitude(job.team, tensor.data));
  };
  if (job.keeps_state) require_finite_tensor();
  const std::uint32_t largest =
      kernels::add_max_magnitude_bits(tensor.data.data(), residual.data(), tensor.data.size());
  if (largest >= kInfinityBits) {
    require_finite_tensor();
    refuse_overflow(name(), tensor.name, residual);
  }
  EncodeJob corrected = job;
  corrected.tensor.data = residual;
  job.written = encode(corrected, scratch);
  decode_accumulate({.payload = job.payload.first(job.written),
                     .side = job.side,
                     .values = residual,
                     .name = tensor.name,
                     .shape = tensor.shape,
                     .team = job.team},
                    -1.0f, scratch);
  return job.written;
}

std::vector<PayloadField> Codec::explain(std::span<const std::byte> payload, const TensorSpec&,
                                         const SideInputs&) const {
  return {{0, payload.size(), "payload", "bytes", std::to_string(payload.size()) + " bytes"}};
}

}  // namespace gradwire::compressors
