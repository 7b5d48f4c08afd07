#pragma once
#include <optional>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "trainers/routes/movers.h"

/// Encoded tensors of which something has not arrived.
namespace gradwire::trainers {

/// values += factor * what has arrived; `job.payload` as sent, `gaps` what of it is lost. Where the
/// codec says which elements lie where (Codec::packed_elements) those that lost a bit add nothing,
/// and those whose head did; else the whole tensor adds nothing.
void decode_arrived(const compressors::Codec& codec, const compressors::DecodeJob& job,
                    std::span<const sim::ByteRange> gaps, float factor,
                    std::span<std::byte> scratch);

/// By tensor: whether its codec's payloads have max_encoded_size bytes whatever the values
/// (has_fixed_size), so that a receiver knows their length.
std::vector<bool> fixed_sizes(std::span<const compressors::Codec* const> by_tensor);

}  // namespace gradwire::trainers
