#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compressors/codec_plan.h"

/// Weights near to given ones of which every group is a scale times entries of a small table, by
/// codec `lowbit`: what a file holds of them is what they are, to the bit.
namespace gradwire::methods {

struct LowbitTensor {
  std::span<const std::int64_t> shape;  ///< rows are the first dimension
  std::span<const float> values;
  std::span<float> projected;  ///< [values]; may be the same memory
};

struct LowbitProjection {
  std::string table;  ///< of codec lowbit
  std::string tie;    ///< what shares a scale: model, layer, node
  std::int64_t iterations = 5;

  /// Throws CodecError where a value is not finite.
  void project(std::span<const LowbitTensor> tensors) const;
  /// What keeps a projected tensor in a file. One scale of the whole model is each layer's, too.
  compressors::CodecChoice stored() const;
};

/// The choices of an option of codec lowbit: "table", "tie".
const std::vector<std::string>& lowbit_choices(std::string_view option);

/// Whether a tensor of that shape has rows of weights; vectors stay as they are.
inline bool is_lowbit(std::span<const std::int64_t> shape) {
  return shape.size() > 1;
}

}  // namespace gradwire::methods
