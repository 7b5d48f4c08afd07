#pragma once
#include <cstdint>

#include "compressors/arithmetic/bits.h"

/// Low-bit tables and the projection onto them (ADMM quantisation, arXiv 2111.14836), shared by CPU
/// and CUDA.
namespace gradwire::compressors {

/// A symmetric table T of small integers: sorted entries, and the magnitudes among them.
struct LowbitTable {
  int bits;            ///< of a code, the index into `entries`
  int count;           ///< entries
  float entries[8];    ///< ascending; those beyond `count` are 0
  int levels;          ///< magnitudes
  float magnitude[4];  ///< ascending; those beyond `levels` are 0
  float top;           ///< the largest
  double start;        ///< the projection begins with alpha = mean |v| / start
};

/// `start` is mean |T|, but 1 for {-1, 0, 1}, whose 2/3 would begin beyond what the projection
/// can reach back from on short groups.
inline constexpr LowbitTable kLowbitTables[] = {
    {1, 2, {-1, 1}, 1, {1}, 1, 1.0},
    {2, 3, {-1, 0, 1}, 2, {0, 1}, 1, 1.0},
    {3, 5, {-2, -1, 0, 1, 2}, 3, {0, 1, 2}, 2, 1.2},
    {3, 7, {-4, -2, -1, 0, 1, 2, 4}, 4, {0, 1, 2, 4}, 4, 2.0},
};
inline constexpr int kLowbitTableCount = 4;

/// <|v|, q> and <q, q>.
struct LowbitProducts {
  double dot = 0;
  double square = 0;
};

/// At most what the largest entry can be multiplied with.
GRADWIRE_HD double lowbit_clamped(const LowbitTable& table, double alpha) {
  const double largest = 3.4028234663852886e38 / static_cast<double>(table.top);
  return alpha < largest ? alpha : largest;
}
/// The projection's first scale, from the ordered sum of |v|; 0 for n = 0.
GRADWIRE_HD double lowbit_start(const LowbitTable& table, double sum, std::uint64_t n) {
  if (n == 0) return 0.0;
  return lowbit_clamped(table, sum / static_cast<double>(n) / table.start);
}
/// The scale of least error for q; `alpha` where q is all zero.
GRADWIRE_HD double lowbit_update(const LowbitTable& table, const LowbitProducts& products,
                                 double alpha) {
  if (!(products.square > 0.0)) return alpha;
  return lowbit_clamped(table, products.dot / products.square);
}

/// |v| takes level j iff it is above j of the thresholds: ties go to the smaller magnitude.
struct LowbitThresholds {
  float limit[3];
};

/// The midpoints between neighbouring magnitudes times alpha, a product in double rounded down to
/// binary32, so that |v| > limit iff |v| > the product.
GRADWIRE_HD LowbitThresholds lowbit_thresholds(const LowbitTable& table, double alpha) {
  const float none = float_of(kInfinityBits);
  LowbitThresholds t{{none, none, none}};
  for (int j = 0; j + 1 < table.levels; ++j) {
    const double middle = 0.5 * (static_cast<double>(table.magnitude[j]) +
                                 static_cast<double>(table.magnitude[j + 1]));
    const double exact = middle * alpha;
    float limit = static_cast<float>(exact);
    if (static_cast<double>(limit) > exact) limit = float_of(bits_of(limit) - 1);
    t.limit[j] = limit;
  }
  return t;
}

GRADWIRE_HD int lowbit_level(float value, const LowbitThresholds& t) {
  const float magnitude = float_of(magnitude_bits(value));
  return (magnitude > t.limit[0]) + (magnitude > t.limit[1]) + (magnitude > t.limit[2]);
}

/// Index into the table: with a middle entry, middle +- level; sign(0) = +1 without.
GRADWIRE_HD std::uint32_t lowbit_code(float value, const LowbitThresholds& t, int middle) {
  if (middle < 0) return value < 0.0f ? 0u : 1u;
  const int level = lowbit_level(value, t);
  return static_cast<std::uint32_t>(value < 0.0f ? middle - level : middle + level);
}
/// The middle entry's index, or -1 where the table has no zero.
GRADWIRE_HD int lowbit_middle(const LowbitTable& table) {
  return table.count % 2 == 0 ? -1 : table.count / 2;
}

}  // namespace gradwire::compressors
