#include "compressors/coding/elias.h"

namespace gradwire::compressors {

// The examples of the definition.
static_assert(elias_code(1).width == 1 && elias_code(1).bits == 0);
static_assert(elias_code(4).width == 6 && elias_code(4).bits == 0b101000);
static_assert(elias_code(16).width == 11 && elias_code(16).bits == 0b10100100000);
static_assert(elias_code(kLargestElias).width == kLongestElias);

}  // namespace gradwire::compressors
