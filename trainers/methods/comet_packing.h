#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/codec.h"

/// What a backward pass needs of layers, packed: docs/methods/comet.md has the format. Without
/// LibTorch.
namespace gradwire::methods {

/// bits[e] = whether gradients pass a ReLU whose result is values[e]: where that is not <= 0 (as
/// LibTorch has it, NaN among them). LSB first, ceil(n / 8) bytes, unused bits 0.
void pack_passed(std::span<const float> values, std::span<std::byte> bits);
/// values[e] = 1 or 0.
void unpack_passed(std::span<const std::byte> bits, std::span<float> values);

/// Planes of rows x columns, pooled by windows of 2x2 without overlap; an odd last row or column is
/// in no window.
struct Pooling {
  std::int64_t rows = 0, columns = 0;
  std::int64_t pooled() const { return (rows / 2) * (columns / 2); }
};

/// Where each window's largest element is: indices in its plane -> 2 bits each (row, then column
/// bit), LSB first. `indices` are whole planes.
void pack_places(Pooling pooling, std::span<const std::int64_t> indices, std::span<std::byte> bits);
void unpack_places(Pooling pooling, std::span<const std::byte> bits,
                   std::span<std::int64_t> indices);

/// A tensor as blocks of whole rows, each behind its length u32. Scratch is the calling thread's
/// own; the result stays valid until its next call.
std::span<const std::byte> pack_blocks(const compressors::Codec& codec,
                                       std::span<const float> values, std::int64_t columns);
void unpack_blocks(const compressors::Codec& codec, std::span<const std::byte> blocks,
                   std::int64_t columns, std::span<float> values);

}  // namespace gradwire::methods
