#pragma once
#include <cstddef>
#include <span>
#include <vector>

/// Weights as a server sends them after its update: u32 count of those that are not zero, one bit
/// an element (LSB first, padded to a byte), then these as f32; or u32 0xffffffff and every element
/// as f32, where that is no larger. Little-endian.
namespace gradwire::trainers {

void write_weights(std::span<const float> weights, std::vector<std::byte>& message);

/// Throws TrainerError naming the byte for what write_weights cannot have written.
void read_weights(std::span<const std::byte> message, std::span<float> weights);

}  // namespace gradwire::trainers
