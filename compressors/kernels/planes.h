#pragma once
#include <cstddef>
#include <cstdint>

/// Codes of a few bits as bit planes: plane p holds bit p of every code, LSB first.
namespace gradwire::compressors::kernels {

/// Plane p goes to planes + p * stride: ceil(n / 8) bytes, unused bits 0.
void split_planes(const std::uint8_t* codes, std::size_t n, int bits, std::size_t stride,
                  std::byte* planes);
/// The reverse; reads exactly ceil(n / 8) bytes of each plane.
void join_planes(const std::byte* planes, std::size_t n, int bits, std::size_t stride,
                 std::uint8_t* codes);

}  // namespace gradwire::compressors::kernels
