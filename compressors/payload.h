#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "compressors/codec.h"

/// What every codec needs at its edges: little-endian fields, refusals, views of scratch and state.
namespace gradwire::compressors {

static_assert(std::endian::native == std::endian::little, "payloads are little-endian in memory");

template <class T>
void store_field(std::span<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T load_field(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A span of T over bytes that the caller aligned to 8.
template <class T>
std::span<T> view_as(std::span<std::byte> bytes, std::size_t count) {
  GRADWIRE_ASSERT(bytes.size() >= count * sizeof(T));
  GRADWIRE_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0 || count == 0);
  return {reinterpret_cast<T*>(bytes.data()), count};
}

constexpr std::size_t padded_to_8(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

/// "cannot encode tensor "conv1" with terngrad: <reason>".
[[noreturn]] void refuse_tensor(std::string_view codec, std::string_view tensor,
                                const std::string& reason);
/// "cannot decode a terngrad payload of 9 bytes: <reason>".
[[noreturn]] void refuse_payload(std::string_view codec, std::size_t size,
                                 const std::string& reason);

/// Refuses a tensor of more elements than a 32-bit count can say.
void require_countable(std::string_view codec, std::string_view tensor, std::uint64_t n);

/// Refuses a tensor for whose n elements a random stream has no draws from first_element on.
void require_draws(std::string_view codec, std::string_view tensor, std::uint64_t n,
                   std::uint64_t first_element);
/// Refuses a tensor for which a random stream has no draws; asserts that injected ones are enough.
void require_draws(std::string_view codec, const TensorView& tensor, const Draws& draws);

/// Refuses, naming the element, if `largest_bits` (the tensor's largest magnitude bits) says that
/// a value is infinite or NaN.
void require_finite(std::string_view codec, const TensorView& tensor, std::uint32_t largest_bits);

/// Refuses a payload whose size is not `expected`.
void require_size(std::string_view codec, std::uint64_t size, std::uint64_t expected);
inline void require_size(std::string_view codec, std::span<const std::byte> payload,
                         std::size_t expected) {
  if (payload.size() != expected) require_size(codec, payload.size(), expected);
}

/// Refuses a payload that is shorter than its head.
void require_header(std::string_view codec, std::span<const std::byte> payload, std::size_t bytes);

/// The scale that workers agreed on; refuses the tensor if it is not a finite number >= 0.
float checked_shared_scale(std::string_view codec, std::string_view tensor, float scale);

}  // namespace gradwire::compressors
