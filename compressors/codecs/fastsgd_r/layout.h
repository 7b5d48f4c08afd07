#pragma once
#include "compressors/layout/sections.h"

/// The head of `fastsgd_r`; keys and values follow as one stream, or (with other keys than delta) a
/// format of the indices (u8), the keys and the values on whole bytes each.
namespace gradwire::compressors {

struct FastSgdHead : Layout<Field<"kept", std::uint32_t, CountsEntries>,
                            Field<"scale", float, FiniteScale<"a value">>> {
  enum Section { kKept, kScale };
};

}  // namespace gradwire::compressors
