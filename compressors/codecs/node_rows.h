#pragma once
#include "compressors/codec.h"

namespace gradwire::compressors {

/// A weight as a matrix: one row an output node (the first dimension), its columns the fan-in (all
/// others); a tensor of at most one dimension is one row.
struct NodeRows {
  std::size_t rows = 1;
  std::size_t columns = 0;
};

inline NodeRows node_rows(const TensorSpec& tensor) {
  if (tensor.shape.size() <= 1) return {1, tensor.n};
  const auto rows = static_cast<std::size_t>(tensor.shape[0]);
  return {rows, rows == 0 ? 0 : tensor.n / rows};
}

}  // namespace gradwire::compressors
