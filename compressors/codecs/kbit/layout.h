#pragma once
#include "compressors/codecs/bit_planes.h"

/// The payloads of `kbit`: code after code, or rows of a bit plane for each bit.
namespace gradwire::compressors {

struct PackedKbitLayout : Layout<Codes<"codes">> {
  explicit PackedKbitLayout(int bits) : Layout(Codes<"codes">(bits)) {}
};
struct PlanarKbitLayout : Layout<PlaneRows> {
  explicit PlanarKbitLayout(int bits) : Layout(PlaneRows(bits)) {}
  std::size_t row_bytes(const Extent& extent) const {
    return static_cast<std::size_t>(section<0>().row_bytes(extent));
  }
};

}  // namespace gradwire::compressors
