#include "compressors/payload.h"

#include <cmath>
#include <limits>

#include "compressors/arithmetic/bits.h"

namespace gradwire::compressors {

void refuse_tensor(std::string_view codec, std::string_view tensor, const std::string& reason) {
  std::string subject = "tensor \"";
  subject.append(tensor).append("\" with ").append(codec);
  throw CodecError("encode", subject, reason);
}

void require_draws(std::string_view codec, const TensorView& tensor, const Draws& draws) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(draws.injected.empty() || draws.injected.size() == n);
  require_draws(codec, tensor.name, n, draws.first_element);
}

void require_draws(std::string_view codec, std::string_view tensor, std::uint64_t n,
                   std::uint64_t first_element) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  if (n > kMost || first_element > kMost - n)
    refuse_tensor(codec, tensor, "a random stream has draws for 2^34 elements only");
}

void require_countable(std::string_view codec, std::string_view tensor, std::uint64_t n) {
  if (n > std::numeric_limits<std::uint32_t>::max())
    refuse_tensor(codec, tensor, "it has more elements than a 32-bit count can say");
}

float checked_shared_scale(std::string_view codec, std::string_view tensor, float scale) {
  if (!(scale >= 0.0f) || std::isinf(scale))
    refuse_tensor(codec, tensor, "the shared scale is not a finite number >= 0");
  return scale;
}

void refuse_payload(std::string_view codec, std::size_t size, const std::string& reason) {
  std::string subject = "a ";
  subject.append(codec).append(" payload of ").append(std::to_string(size)).append(" bytes");
  throw CodecError("decode", subject, reason);
}

void require_finite(std::string_view codec, const TensorView& tensor, std::uint32_t largest_bits) {
  if (largest_bits < kInfinityBits) return;
  for (std::size_t e = 0; e < tensor.data.size(); ++e) {
    if (std::isfinite(tensor.data[e])) continue;
    const char* what = std::isnan(tensor.data[e]) ? " is NaN" : " is infinite";
    refuse_tensor(codec, tensor.name, "element " + std::to_string(e) + what);
  }
  GRADWIRE_ASSERT(!"the tensor changed while it was encoded");
}

void require_size(std::string_view codec, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  refuse_payload(codec, size,
                 (size < expected ? "it ends at byte " + std::to_string(size) + " where "
                                  : std::string("only ")) +
                     std::to_string(expected) + " bytes are expected");
}

void require_header(std::string_view codec, std::span<const std::byte> payload, std::size_t bytes) {
  if (payload.size() < bytes)
    refuse_payload(codec, payload.size(),
                   "it ends at byte " + std::to_string(payload.size()) + " in a header of " +
                       std::to_string(bytes) + " bytes");
}

}  // namespace gradwire::compressors
