#pragma once
#include "compressors/codecs/bit_planes.h"

/// The payload of `binary`: one plane, 1 = +1.
namespace gradwire::compressors {

struct BinaryLayout : Layout<PlaneRows> {
  BinaryLayout() : Layout(PlaneRows(1)) {}
};

}  // namespace gradwire::compressors
