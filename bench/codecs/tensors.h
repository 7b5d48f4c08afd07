#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "bench/codecs/codec_cases.h"

/// Made-up tensors that look like what each codec is for, from Philox: the same on every machine
/// that rounds its logarithm and cosine alike.
namespace gradwire::bench {

/// Fills values[n], rows of 1,024.
void fill_tensor(TensorKind kind, std::uint64_t seed, std::span<float> values, ThreadTeam* team);

/// One bit an element, LSB first, one of ten set.
std::vector<std::uint8_t> sparse_mask(std::uint64_t seed, std::size_t n);

}  // namespace gradwire::bench
