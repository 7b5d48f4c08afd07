#pragma once
#include <cstddef>

namespace gradwire::compressors::kernels {

/// How decoded values reach memory.
enum class Output {
  kStore,   ///< values[i] = decoded
  kStream,  ///< the same, past the caches; for calls within for_ranges, which orders the stores
  kAdd,     ///< values[i] += decoded
};

/// Outputs of a call that are larger than this would not stay in the second-level cache: streamed,
/// they save the reading of every line before it is written.
inline constexpr std::size_t kStreamedFrom = std::size_t{1} << 20;  // bytes

constexpr bool is_streamed(std::size_t bytes) {
  return bytes > kStreamedFrom;
}
constexpr Output output_of(std::size_t bytes) {
  return is_streamed(bytes) ? Output::kStream : Output::kStore;
}

}  // namespace gradwire::compressors::kernels
