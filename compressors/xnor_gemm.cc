#include "compressors/xnor_gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/thread_team.h"
#include "compressors/kernels/planes.h"
#include "compressors/kernels/xnor.h"

namespace gradwire::compressors {
namespace {

constexpr std::int64_t top_of(const BitPlanes& m) {
  return (std::int64_t{1} << m.bits) - 1;
}

// With x = 2 c - top = sum of 2^p (+-1) over the planes, every meaning is (x + offset) /
// 2^halvings.
constexpr std::int64_t offset_of(const BitPlanes& m) {
  return m.meaning == CodeMeaning::kOdd ? 0 : m.meaning == CodeMeaning::kUnsigned ? top_of(m) : -1;
}
constexpr int halvings_of(const BitPlanes& m) {
  return m.meaning == CodeMeaning::kOdd ? 0 : 1;
}

/// Sum of x over a row.
std::int64_t row_sum(const BitPlanes& m, std::size_t row) {
  std::int64_t sum = 0;
  const std::byte* at = m.bytes.data() + row * m.stride();
  for (int p = 0; p < m.bits; ++p) {
    std::int64_t ones = 0;
    for (std::size_t w = 0; w < plane_bytes(m.columns); w += 8, at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      ones += std::popcount(word);
    }
    sum += (2 * ones - static_cast<std::int64_t>(m.columns)) << p;
  }
  return sum;
}

constexpr std::size_t kTileColumns = 128;

/// Part of the product: rows [first, last) of a, up to 128 rows of b from `column` on.
struct Tile {
  const BitPlanes& a;
  const BitPlanes& b;
  std::int32_t* c;
  std::size_t first, last, column;

  std::size_t columns() const { return std::min(kTileColumns, b.rows - column); }

  void clear() const {
    for (std::size_t i = first; i < last; ++i) std::fill_n(c + i * b.rows + column, columns(), 0);
  }

  /// c = sum over planes of 2^(p + q) popcount(a^p XOR b^q).
  void count() const {
    const std::size_t bytes = plane_bytes(a.columns);
    const auto plane = [&](const BitPlanes& m, std::size_t row, std::size_t rows, int number) {
      const std::size_t at = row * m.stride() + static_cast<std::size_t>(number) * bytes;
      return kernels::BitRows{m.bytes.data() + at, m.stride(), rows};
    };
    for (int q = 0; q < b.bits; ++q)
      for (int p = 0; p < a.bits; ++p)
        kernels::add_xor_counts(plane(a, first, last - first, p), plane(b, column, columns(), q),
                                bytes / 8, p + q, c + first * b.rows + column, b.rows);
  }

  /// sum of x_a x_b = columns top_a top_b - 2 count; then what the meanings add and divide by.
  void finish() const {
    const std::int64_t n = static_cast<std::int64_t>(a.columns);
    const std::int64_t all = n * top_of(a) * top_of(b), u = offset_of(a), v = offset_of(b);
    if (a.meaning == CodeMeaning::kOdd && b.meaning == CodeMeaning::kOdd) return subtract_from(all);
    const int halvings = halvings_of(a) + halvings_of(b);
    std::int64_t b_sums[kTileColumns] = {};
    for (std::size_t j = 0; u != 0 && j < columns(); ++j) b_sums[j] = row_sum(b, column + j);
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t a_sum = v != 0 ? row_sum(a, i) : 0;
      for (std::size_t j = 0; j < columns(); ++j) {
        std::int32_t& value = c[i * b.rows + column + j];
        const std::int64_t product = all - 2 * std::int64_t{value};
        value = static_cast<std::int32_t>((product + v * a_sum + u * b_sums[j] + n * u * v) >>
                                          halvings);
      }
    }
  }

  /// c = all - 2 c: the sums are within 32 bits, whatever their parts are.
  void subtract_from(std::int64_t all) const {
    for (std::size_t i = first; i < last; ++i)
      for (std::int32_t& value : std::span(c + i * b.rows + column, columns()))
        value = static_cast<std::int32_t>(static_cast<std::uint32_t>(all) -
                                          2 * static_cast<std::uint32_t>(value));
  }
};

void require_fit(const BitPlanes& a, const BitPlanes& b, std::size_t c) {
  const auto require = [](bool holds, const char* reason) {
    if (!holds) throw Error(ErrorKind::kUsage, "multiply", "bit planes", reason);
  };
  require(a.bits >= 1 && a.bits <= 8 && b.bits >= 1 && b.bits <= 8, "planes are 1 to 8 bits");
  require(a.columns == b.columns, "the factors' rows differ in length");
  require(a.bytes.size() == a.rows * a.stride() && b.bytes.size() == b.rows * b.stride(),
          "a factor's bytes are not those of its rows");
  require(c == a.rows * b.rows, "the product is rows of a by rows of b");
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  require(a.columns <= most / static_cast<std::uint64_t>(top_of(a) * top_of(b)),
          "the rows are too long for sums of 32 bits");
}

}  // namespace

void bit_plane_gemm(const BitPlanes& a, const BitPlanes& b, std::span<std::int32_t> c,
                    ThreadTeam* team) {
  require_fit(a, b, c.size());
  constexpr std::size_t kTileRows = 2048;
  const std::size_t across = (b.rows + kTileColumns - 1) / kTileColumns;
  const std::size_t down = (a.rows + kTileRows - 1) / kTileRows;
  const auto one = [&](std::size_t t) {
    const std::size_t first = t / across * kTileRows;
    const Tile tile{
        a, b, c.data(), first, std::min(first + kTileRows, a.rows), t % across * kTileColumns};
    tile.clear();
    tile.count();
    tile.finish();
  };
  constexpr std::size_t kWorthSharing = std::size_t{1} << 22;  // bit operations: some microseconds
  if (team != nullptr && a.bytes.size() * 8 * b.rows >= kWorthSharing)
    return team->run(across * down, [&](std::size_t t) { one(t); });
  for (std::size_t t = 0; t < across * down; ++t) one(t);
}

void split_planes(std::span<const std::uint8_t> codes, std::size_t rows, std::size_t columns,
                  int bits, std::span<std::byte> planes) {
  const std::size_t bytes = plane_bytes(columns), stride = static_cast<std::size_t>(bits) * bytes;
  GRADWIRE_ASSERT(codes.size() == rows * columns && planes.size() == rows * stride);
  for (std::size_t r = 0; r < rows; ++r) {
    std::byte* row = planes.data() + r * stride;
    if (columns % 64 != 0)
      for (std::size_t p = 1; p <= static_cast<std::size_t>(bits); ++p)
        std::memset(row + p * bytes - 8, 0, 8);
    kernels::split_planes(codes.data() + r * columns, columns, bits, bytes, row);
  }
}

}  // namespace gradwire::compressors
