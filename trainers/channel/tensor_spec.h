#pragma once
#include "compressors/codec.h"
#include "trainers/layout.h"

namespace gradwire::trainers {

/// A tensor as codecs are told of it before its values.
inline compressors::TensorSpec spec_of(const TensorSlot& slot) {
  return {static_cast<std::size_t>(slot.count), slot.name, slot.shape};
}

}  // namespace gradwire::trainers
