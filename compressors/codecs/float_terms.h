#pragma once
#include "compressors/codec.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/magnitude.h"
#include "compressors/kernels/output.h"

namespace gradwire::compressors {

/// Terms that are floats' own bits.
class FloatTerms : public SumTerms {
 public:
  void to_values(std::span<const std::uint32_t> terms, const SideInputs&, float factor,
                 std::span<float> values) const final {
    GRADWIRE_ASSERT(values.size() == terms.size());
    kernels::store_scaled(std::as_bytes(terms).data(), terms.size(), factor, values.data());
  }

 protected:
  /// Returns the tensor's largest magnitude bits.
  static std::uint32_t copy_values(const TensorView& tensor, std::span<std::uint32_t> terms) {
    GRADWIRE_ASSERT(terms.size() == tensor.data.size());
    return kernels::copy_max_magnitude_bits(tensor.data.data(), terms.size(),
                                            kernels::is_streamed(terms.size_bytes()),
                                            std::as_writable_bytes(terms).data());
  }
  static float* floats_of(std::span<std::uint32_t> terms) {
    return reinterpret_cast<float*>(terms.data());
  }
  static const float* floats_of(std::span<const std::uint32_t> terms) {
    return reinterpret_cast<const float*>(terms.data());
  }
};

}  // namespace gradwire::compressors
