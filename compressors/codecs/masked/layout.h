#pragma once
#include "compressors/layout/sections.h"

/// The payload of `masked`: the values under the mask. In a record, length, number of entries and
/// the mask come before.
namespace gradwire::compressors {

struct MaskedLayout : Layout<Optional<Field<"length", std::uint32_t, CountsElements<"a length">>>,
                             Optional<Field<"count", std::uint32_t, CountsEntries>>,
                             Optional<Codes<"mask">>, SentValues> {
  enum Section { kLength, kCount, kMask, kValues };
  explicit MaskedLayout(bool record, std::size_t k = 0)
      : Layout({record}, {record}, {record, Codes<"mask">(1)}, {.count = {k}}) {}
};

}  // namespace gradwire::compressors
