#include "compressors/codecs/terngrad/ternary_terms.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/terngrad/kernel.h"
#include "compressors/kernels/integers.h"
#include "compressors/payload.h"

namespace gradwire::compressors {

// ceil(log2(2 j + 1)) = bits of 2 j.
int TernaryTerms::width_bits(int contributors) const {
  GRADWIRE_ASSERT(contributors >= 1 && contributors < (1 << 30));
  return static_cast<int>(std::bit_width(2u * static_cast<unsigned>(contributors)));
}

void TernaryTerms::to_terms(const TensorView& tensor, const SideInputs& side, const Draws& draws,
                            std::span<std::uint32_t> terms) const {
  constexpr std::size_t kChunk = 4096;
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(terms.size() == n);
  require_draws(name_, tensor, draws);
  const TernaryRule rule =
      ternary_rule(checked_shared_scale(name_, tensor.name, side.shared_scale));
  std::uint32_t largest = 0;
  std::byte codes[kChunk / 4];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t count = std::min(kChunk, n - begin);
    largest = std::max(largest, kernels::ternary_codes(tensor.data.data() + begin, count, draws,
                                                       begin, rule, codes));
    unpack_bits({codes, packed_bytes(count, 2)}, 2, 1, terms.subspan(begin, count));
  }
  require_finite(name_, tensor, largest);
}

void TernaryTerms::pack(std::span<const std::uint32_t> terms, int contributors,
                        std::span<std::byte> payload) const {
  const auto j = static_cast<std::uint32_t>(contributors);
  pack_bits(terms, width_bits(contributors), j, 2 * j, payload);
}

void TernaryTerms::unpack_add(std::span<const std::byte> payload, int contributors,
                              std::span<std::uint32_t> terms) const {
  require_size(name_, payload, packed_size(terms.size(), contributors));
  const auto j = static_cast<std::uint32_t>(contributors);
  require_codes(unpack_bits_add(payload, width_bits(contributors), j, terms), payload, terms.size(),
                contributors);
}

void TernaryTerms::unpack_store(std::span<const std::byte> payload, int contributors,
                                std::span<std::uint32_t> terms) const {
  require_size(name_, payload, packed_size(terms.size(), contributors));
  const auto j = static_cast<std::uint32_t>(contributors);
  require_codes(unpack_bits(payload, width_bits(contributors), j, terms), payload, terms.size(),
                contributors);
}

void TernaryTerms::to_values(std::span<const std::uint32_t> terms, const SideInputs& side,
                             float factor, std::span<float> values) const {
  GRADWIRE_ASSERT(values.size() == terms.size() && side.shared_scale >= 0.0f);
  kernels::scale_integers(terms.data(), terms.size(), factor * side.shared_scale, values.data());
}

void TernaryTerms::require_codes(std::uint32_t seen, std::span<const std::byte> payload,
                                 std::size_t n, int contributors) const {
  const auto largest = 2 * static_cast<std::uint32_t>(contributors);
  if (seen <= largest) return;
  const int width = width_bits(contributors);
  const std::size_t i = first_code_above(payload, width, n, largest);
  refuse_payload(name_, payload.size(),
                 "byte " + std::to_string(i * static_cast<std::size_t>(width) / 8) +
                     " holds a code beyond " + std::to_string(largest) + ", the largest sum of " +
                     std::to_string(contributors) + " workers");
}

}  // namespace gradwire::compressors
