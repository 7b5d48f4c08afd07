#include "trainers/schedules/whole_model.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "compressors/arithmetic/bits.h"
#include "compressors/ranges.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kBlock = 4096;  // 16 KiB: what was copied is read again from the L1 cache

/// Whether an element is infinite or not a number.
bool has_bad(const float* values, std::size_t count) {
  return compressors::shared_magnitude(nullptr, {values, count}) >= compressors::kInfinityBits;
}

/// Calls take(values, first, count) for blocks of the gradients, whose first element in layout
/// order is `first`; true if all of them are finite.
template <class Take>
bool take_finite(const Gradients& gradients, const Layout& layout, Take&& take) {
  const auto tensors = gradients.tensors();
  bool finite = true;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const auto begin = static_cast<std::size_t>(layout.tensors()[t].first);
    for (std::size_t at = 0; at < tensors[t].size(); at += kBlock) {
      const std::size_t count = std::min(kBlock, tensors[t].size() - at);
      const float* const values = tensors[t].data() + at;
      take(values, begin + at, count);
      finite = !has_bad(values, count) && finite;
    }
  }
  return finite;
}

}  // namespace

bool all_finite(const Gradients& gradients) {
  for (const std::span<const float> tensor : gradients.tensors())
    if (has_bad(tensor.data(), tensor.size())) return false;
  return true;
}

bool all_finite(std::span<const float> values) {
  return !has_bad(values.data(), values.size());
}

bool copy_finite(const Gradients& gradients, const Layout& layout, std::span<float> flat) {
  return take_finite(gradients, layout,
                     [&](const float* values, std::size_t first, std::size_t count) {
                       std::memcpy(flat.data() + first, values, count * sizeof(float));
                     });
}

bool subtract_gradients(std::span<const float> from, const Gradients& gradients,
                        const Layout& layout, std::span<float> difference) {
  return take_finite(gradients, layout,
                     [&](const float* __restrict values, std::size_t first, std::size_t count) {
                       const float* const a = from.data() + first;
                       float* const to = difference.data() + first;
                       for (std::size_t e = 0; e < count; ++e) to[e] = a[e] - values[e];
                     });
}

bool add_gradients(const Gradients& gradients, const Layout& layout, std::span<float> sum) {
  return take_finite(gradients, layout,
                     [&](const float* __restrict values, std::size_t first, std::size_t count) {
                       float* const to = sum.data() + first;
                       for (std::size_t e = 0; e < count; ++e) to[e] += values[e];
                     });
}

bool subtract_finite(std::span<const float> from, std::span<const float> minus,
                     std::span<float> difference) {
  GRADWIRE_ASSERT(from.size() == minus.size() && from.size() == difference.size());
  bool finite = true;
  for (std::size_t first = 0; first < from.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, from.size() - first);
    const float *const a = from.data() + first, *const b = minus.data() + first;
    float* const to = difference.data() + first;
    for (std::size_t e = 0; e < count; ++e) to[e] = a[e] - b[e];
    finite = !has_bad(to, count) && finite;
  }
  return finite;
}

void add_proximal(std::span<float> gradient, float mu, std::span<const float> weights,
                  std::span<const float> centre) {
  for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] += mu * (weights[e] - centre[e]);
}

}  // namespace gradwire::trainers
