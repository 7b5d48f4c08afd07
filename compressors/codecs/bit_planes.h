#pragma once
#include "compressors/layout/sections.h"
#include "compressors/xnor_gemm.h"

namespace gradwire::compressors {

/// Rows of bit planes in 64-bit words, low bits first, padding 0: a row an output node (the first
/// dimension), its columns the fan-in. A factor of bit_plane_gemm().
struct PlaneRows : Unchecked {
  int planes = 1;

  constexpr PlaneRows() = default;
  constexpr explicit PlaneRows(int count) : planes(count) {}
  /// From one row to the next, and from one plane to the next.
  std::uint64_t row_bytes(const Extent& extent) const {
    return static_cast<std::uint64_t>(planes) * stride(extent);
  }
  static std::uint64_t stride(const Extent& extent) {
    return plane_bytes(static_cast<std::size_t>(extent.fan_in()));
  }
  std::uint64_t bytes(const Extent& extent) const { return extent.nodes * row_bytes(extent); }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    std::string type = "u64[" + std::to_string(d.extent.nodes) + "]";
    if (planes > 1) type += "[" + std::to_string(planes) + "]";
    type += "[" + std::to_string(stride(d.extent) / 8) + "]";
    const auto shown = static_cast<std::size_t>(d.extent.n == 0 ? 0 : d.extent.fan_in());
    std::string text = first_few(shown, [&](std::size_t i) { return std::to_string(code(d, i)); });
    if (shown <= kFew && d.extent.n > shown) text += ", ...";
    fields.push_back(
        {d.at, static_cast<std::size_t>(bytes(d.extent)), "planes", type, std::move(text)});
  }
  /// Rows begin on words of their own.
  void place(PackedPlan& plan, const Extent&) const { plan.possible = false; }

 private:
  /// Of the first row.
  std::uint32_t code(const Described& d, std::size_t i) const {
    std::uint32_t bits = 0;
    for (int p = 0; p < planes; ++p) {
      const std::size_t plane =
          d.at + static_cast<std::size_t>(static_cast<std::uint64_t>(p) * stride(d.extent));
      bits |= code_at(d.payload.subspan(plane), i, 1) << p;
    }
    return bits;
  }
};

}  // namespace gradwire::compressors
