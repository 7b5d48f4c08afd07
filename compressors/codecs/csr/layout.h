#pragma once
#include "compressors/layout/index_sections.h"

/// The payload of `csr`: length and number of entries, the format of the columns unless that is
/// u32, columns on whole bytes, values.
namespace gradwire::compressors {

struct CsrLayout : Layout<Field<"length", std::uint32_t, CountsElements<"a length">>,
                          Field<"count", std::uint32_t, CountsEntries>, Optional<IndexFormatField>,
                          Stream<"columns", ShownIndices>, SentValues> {
  enum Section { kLength, kCount, kFormat, kColumns, kValues };
  /// Its head alone, of any format of columns but u32 if it is `tagged`.
  explicit CsrLayout(bool tagged) : CsrLayout(tagged, {}, 0) {}
  CsrLayout(bool tagged, const ShownIndices& columns, std::size_t column_bytes)
      : Layout({}, {}, {.present = tagged}, {column_bytes, columns}, {.count = {columns.k}}) {}
};

}  // namespace gradwire::compressors
