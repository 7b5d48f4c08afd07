#pragma once
#include "compressors/codecs/powersgd/kernel.h"
#include "compressors/layout/sections.h"

/// The payload of `powersgd`: P[a, r], then Q[b, r], row-major, of a matrix of a rows (the first
/// dimension) and b columns; or, of tensors whose factors would take as many bytes, the values as
/// they are.
namespace gradwire::compressors {

struct Factors {
  std::uint64_t rows = 0, columns = 0, rank = 0;  ///< rank 0: sent as it is
};

GRADWIRE_HD constexpr Factors factors_of(const Extent& extent, std::uint64_t rank) {
  if (extent.n == 0) return {};
  const std::uint64_t rows = extent.nodes, columns = extent.n / rows;
  std::uint64_t r = rank < rows ? rank : rows;
  r = r < columns ? r : columns;
  if (r * (rows + columns) >= extent.n) return {};
  return {rows, columns, r};
}

/// How many numbers a section of the payload has.
enum class PowerSgdPart { kValues, kP, kQ };
template <PowerSgdPart kPart>
struct PowerSgdCount {
  std::uint64_t rank = 1;
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const {
    const Factors f = factors_of(extent, rank);
    if constexpr (kPart == PowerSgdPart::kValues) return f.rank == 0 ? extent.n : 0;
    return f.rank * (kPart == PowerSgdPart::kP ? f.rows : f.columns);
  }
};
template <Text kName, PowerSgdPart kPart>
struct PowerSgdNumbers : Numbers<kName, float, PowerSgdCount<kPart>, Finite<"a value">> {
  constexpr PowerSgdNumbers() = default;
  constexpr explicit PowerSgdNumbers(std::uint64_t rank)
      : Numbers<kName, float, PowerSgdCount<kPart>, Finite<"a value">>{.count = {rank}} {}
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    const std::size_t before = fields.size();
    Numbers<kName, float, PowerSgdCount<kPart>, Finite<"a value">>::describe(d, fields);
    if (kPart == PowerSgdPart::kValues || fields.size() == before) return;
    const Factors f = factors_of(d.extent, this->count.rank);
    fields.back().type = "f32[" + std::to_string(kPart == PowerSgdPart::kP ? f.rows : f.columns) +
                         (f.rank == 1 ? "" : ", " + std::to_string(f.rank)) + "]";
  }
};

struct PowerSgdLayout
    : Layout<PowerSgdNumbers<"values", PowerSgdPart::kValues>,
             PowerSgdNumbers<"P", PowerSgdPart::kP>, PowerSgdNumbers<"Q", PowerSgdPart::kQ>> {
  enum Section { kValues, kP, kQ };
  explicit PowerSgdLayout(std::uint64_t rank)
      : Layout(PowerSgdNumbers<"values", PowerSgdPart::kValues>(rank),
               PowerSgdNumbers<"P", PowerSgdPart::kP>(rank),
               PowerSgdNumbers<"Q", PowerSgdPart::kQ>(rank)) {}
};

}  // namespace gradwire::compressors
