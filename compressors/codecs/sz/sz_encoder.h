#pragma once
#include <optional>

#include "compressors/codec.h"
#include "compressors/codecs/sz/sz_block.h"

/// The two directions of `sz`; the codec itself is in sz.cc.
namespace gradwire::compressors {

struct SzOptions {
  double bound = 1e-3;
  bool relative = true;
  std::optional<int> predictor = {};  ///< none = the one that gives the smallest block
  std::uint32_t radius = 512;
  bool zero_runs = true;  ///< false = never; true = where the block gets smaller
};

std::size_t sz_encode_scratch(std::size_t n, std::uint32_t radius);
/// Returns the bytes written.
std::size_t encode_sz(const SzOptions& options, EncodeJob& job, std::span<std::byte> scratch);

std::size_t sz_decode_scratch(std::size_t n);
/// Gives chunk after chunk of values, in order, to the tensor: stored where `factor` is empty, else
/// multiplied and added.
void decode_sz(const DecodeJob& job, std::optional<float> factor, std::span<std::byte> scratch);

}  // namespace gradwire::compressors
