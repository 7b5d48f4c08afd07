#pragma once
#include "compressors/codec.h"
#include "compressors/payload.h"

/// What decorators share that keep for the next call what was not sent.
namespace gradwire::compressors {

/// Of n floats in a state or in scratch.
constexpr std::size_t floats_bytes(std::size_t n) {
  return padded_to_8(n * sizeof(float));
}

/// The floats at `offset` of a state that may only be read.
std::span<const float> floats_of(std::span<const std::byte> state, std::size_t offset,
                                 std::size_t n);

/// Codec::encode_with_residual where messages are summed: encodes job.tensor + residual as terms of
/// `inner` and leaves in residual[n] what one worker's packed terms do not say. job.state is the
/// inner codec's. `scratch`: floats_bytes(n), then the inner codec's. A tensor with NaN or Inf is
/// refused before the residual changes.
void encode_terms_with_residual(const Codec& inner, const TermsJob& job, std::span<float> residual,
                                std::span<std::byte> scratch);

}  // namespace gradwire::compressors
