#pragma once
#include "compressors/codec.h"

namespace gradwire::trainers {

/// True if every payload of this tensor's codec has max_encoded_size bytes: tried with zeros and
/// with drawn values of 1,000 elements.
bool has_fixed_size(const compressors::Codec& codec);

/// `codec`, but max_encoded_size(tensor) is what it writes for drawn values
/// (trainers/timing/codec_costs.h) of that shape, with fresh state. Beyond 1 Mi elements: rows are
/// left out, and the size is scaled by elements. For charging messages that nobody writes; not for
/// buffers. Sizes are remembered, not thread-safe.
///
/// Limits: where sizes depend on how values are distributed and not only on how many are sent
/// (variable-length codes of levels, thresholds against a mean), real gradients give others.
compressors::CodecPtr with_drawn_sizes(compressors::CodecPtr codec);

}  // namespace gradwire::trainers
