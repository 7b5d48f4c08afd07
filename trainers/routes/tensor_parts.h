#pragma once
#include <vector>

#include "compressors/codec.h"
#include "trainers/layout.h"

/// A bucket cut into one chunk a worker, for exchanges whose chunks are encoded by themselves.
namespace gradwire::trainers {

/// A run of one tensor's elements within one chunk; encoded as a tensor of its own.
struct TensorPart {
  std::size_t tensor = 0;  ///< of the layout
  std::int64_t first = 0;  ///< within the tensor
  std::int64_t count = 0;
  std::vector<std::int64_t> shape;  ///< {count}, or {rows, columns}
};

/// Chunk c of `chunks` begins as near below floor(c E / chunks) as a tensor may be cut: at its
/// start, at multiples of 4 elements (CGX, arXiv 2111.08617), or, with `keep_rows`, between the
/// rows of a tensor of two dimensions or more.
std::vector<std::vector<TensorPart>> cut_bucket(const Layout& layout, std::size_t bucket,
                                                int chunks, bool keep_rows);

}  // namespace gradwire::trainers
