#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trainers/routes/movers.h"

/// The server's answer to messages that it had to decode: their sum, sparse where that is smaller.
/// u32 count, then count pairs (u32 element, f32 value) of what is not zero; or u32 0xffffffff and
/// every element as f32. Little-endian.
namespace gradwire::trainers {

void write_sum(std::span<const float> sum, std::vector<std::byte>& message);

/// values = factor * the sum. Throws TrainerError naming the byte for what write_sum cannot have
/// written.
void read_sum(std::span<const std::byte> message, float factor, std::span<float> values);

/// The same of what has arrived: pairs and elements that lost a byte count as zero, all if the
/// count did.
void read_sum(const Received& message, float factor, std::span<float> values);

}  // namespace gradwire::trainers
