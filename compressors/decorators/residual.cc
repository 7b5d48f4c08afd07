#include "compressors/decorators/residual.h"

#include "compressors/arithmetic/bits.h"
#include "compressors/kernels/kernels.h"

namespace gradwire::compressors {

std::span<const float> floats_of(std::span<const std::byte> state, std::size_t offset,
                                 std::size_t n) {
  GRADWIRE_ASSERT(state.size() >= offset + n * sizeof(float));
  const std::byte* first = state.data() + offset;
  GRADWIRE_ASSERT(reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0 || n == 0);
  return {reinterpret_cast<const float*>(first), n};
}

void encode_terms_with_residual(const Codec& inner, const TermsJob& job, std::span<float> residual,
                                std::span<std::byte> scratch) {
  const TensorView& tensor = job.tensor;
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(residual.size() == n);
  require_finite(inner.name(), tensor, kernels::max_magnitude_bits(tensor.data.data(), n));
  const std::uint32_t largest =
      kernels::add_max_magnitude_bits(tensor.data.data(), residual.data(), n);
  TermsJob corrected = job;
  corrected.tensor.data = residual;
  require_finite(inner.name(), corrected.tensor, largest);
  inner.encode_terms(corrected, scratch.subspan(floats_bytes(n)));
  const SumTerms& sums = *inner.sum_terms();
  sums.round_as_packed(job.terms, 1);
  const auto sent = view_as<float>(scratch, n);
  sums.to_values(job.terms, job.side, 1.0f, sent);
  for (std::size_t e = 0; e < n; ++e) residual[e] -= sent[e];
}

}  // namespace gradwire::compressors
