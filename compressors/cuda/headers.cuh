#pragma once
#include "compressors/cuda/batch.cuh"
#include "compressors/layout/layout.h"

/// What a layout asks of a payload's fields, on the device: as require_layout() asks it on the
/// host.
namespace gradwire::compressors::cuda {

inline Extent extent_of(const DecodeTensor& tensor) {
  return {tensor.sink.n, tensor.columns, 1};
}
inline Extent extent_of(const EncodeTensor& tensor) {
  return {tensor.source.n, tensor.columns, 1};
}

template <class AnyLayout>
struct CheckFields {
  static constexpr unsigned kBlockThreads = kThreads;
  AnyLayout layout;
  Extent extent;
  const std::byte* payload;
  CudaReport* report;

  std::uint64_t units() const { return units_of(layout.checked(extent), kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, layout.checked(extent), [&](std::uint64_t i) {
      const std::uint64_t byte = layout.bad(i, payload, extent);
      if (byte != kNoBadByte) refuse(report, byte);
    });
  }
};

/// Refuses the first bad field of each payload, unless the sinks trust them. `layout_of(i)`: the
/// layout of tensor i.
template <class LayoutOf>
void check_fields_of(Decodes to, const LayoutOf& layout_of) {
  if (to[0].sink.trusted) return;
  launch_items(to.size(), common_stream(to), "check payloads' fields", [&](std::size_t i) {
    using AnyLayout = std::remove_cvref_t<decltype(layout_of(i))>;
    return CheckFields<AnyLayout>{layout_of(i), extent_of(to[i]), to[i].payload, to[i].sink.report};
  });
}
template <class AnyLayout>
void check_fields(Decodes to, const AnyLayout& layout) {
  check_fields_of(to, [&](std::size_t) { return layout; });
}

}  // namespace gradwire::compressors::cuda
