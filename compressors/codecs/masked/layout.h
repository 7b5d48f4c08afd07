#pragma once
#include "compressors/layout/sections.h"

/// The head of a record of `masked`: length, number of entries, and the mask; values (f32) follow.
namespace gradwire::compressors {

struct MaskedHead : Layout<Field<"length", std::uint32_t, CountsElements<"a length">>,
                           Field<"count", std::uint32_t, CountsEntries>, Codes<"mask">> {
  enum Section { kLength, kCount, kMask };
  MaskedHead() : Layout({}, {}, Codes<"mask">(1)) {}
};

}  // namespace gradwire::compressors
