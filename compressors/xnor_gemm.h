#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gradwire {
class ThreadTeam;
}

/// Exact integer matrix products of tensors of one to eight bits, by XOR and population counts
/// (Hubara et al., Quantized neural networks, arXiv 1609.07061).
namespace gradwire::compressors {

/// Bytes of one row of one plane: 64-bit words, LSB first.
constexpr std::size_t plane_bytes(std::size_t columns) {
  return (columns + 63) / 64 * 8;
}

/// What the code c of k bits stands for.
enum class CodeMeaning {
  kOdd,       ///< 2 c - (2^k - 1): +-1 for one bit, kbit's grid "unit" times 2^k - 1
  kUnsigned,  ///< c: the 8-bit inputs of a first layer
  kCentred,   ///< c - 2^(k - 1): kbit's grid "step" divided by its step
};

/// A matrix as bit planes, [rows][bits][plane_bytes(columns)]; plane p holds bit p of the codes. A
/// payload of the codec `binary`, and of `kbit` in the layout "planes", is one. No alignment is
/// required. Bits beyond `columns` are ignored only if they are equal in both factors; all codecs
/// and split_planes() write zeros.
struct BitPlanes {
  std::span<const std::byte> bytes;
  std::size_t rows = 0, columns = 0;
  int bits = 1;
  CodeMeaning meaning = CodeMeaning::kOdd;

  std::size_t stride() const { return static_cast<std::size_t>(bits) * plane_bytes(columns); }
};

/// c[i * b.rows + j] = sum over e of a[i][e] b[j][e], that is C = A B^T, row-major; exact. For two
/// factors of +-1, columns - 2 popcount(a_i XOR b_j). `c` is overwritten and does not overlap the
/// factors. Shared by the team's threads, if there is one; allocates nothing. Throws Error(kUsage)
/// where columns (2^ka - 1) (2^kb - 1) is above 2^31 - 1, and where sizes do not fit.
void bit_plane_gemm(const BitPlanes& a, const BitPlanes& b, std::span<std::int32_t> c,
                    ThreadTeam* team = nullptr);

/// Codes below 2^bits, row-major [rows][columns], as planes: rows * bits * plane_bytes(columns)
/// bytes.
void split_planes(std::span<const std::uint8_t> codes, std::size_t rows, std::size_t columns,
                  int bits, std::span<std::byte> planes);

}  // namespace gradwire::compressors
