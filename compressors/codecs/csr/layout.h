#pragma once
#include "compressors/layout/sections.h"

/// The head of `csr`: length and number of entries. A format of the indices may follow (u8), then
/// columns and values (f32).
namespace gradwire::compressors {

struct CsrHead : Layout<Field<"length", std::uint32_t, CountsElements<"a length">>,
                        Field<"count", std::uint32_t, CountsEntries>> {
  enum Section { kLength, kCount };
};

}  // namespace gradwire::compressors
