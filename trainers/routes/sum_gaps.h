#pragma once
#include "compressors/codec.h"
#include "trainers/routes/movers.h"

/// Packed sums of which something has not arrived. An element that lost one bit has lost all: it
/// counts as a term of zero, word 0 for every codec (a ternary sum's code of zero is j, not 0, on a
/// hop of j contributors; so zeros in place of lost bytes would be a sum of -1).
namespace gradwire::trainers {

/// terms[e] += the packed sum's element e; those that lost something stay as they are.
void add_arrived(const compressors::SumTerms& codec, const Received& packed, int contributors,
                 std::span<std::uint32_t> terms);

/// terms[e] = the packed sum's element e, or 0 where that lost something.
void store_arrived(const compressors::SumTerms& codec, const Received& packed, int contributors,
                   std::span<std::uint32_t> terms);

}  // namespace gradwire::trainers
