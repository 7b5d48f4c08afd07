#pragma once
#include <cstddef>
#include <cstdint>

namespace gradwire::compressors::kernels {

inline constexpr std::size_t kPanelRows = 8;     ///< rows of b that one call takes
inline constexpr std::size_t kPanelWords = 256;  ///< most words of a row at a time: 16 KiB in all

/// panel[8 w + j] = word w of row j of `b`, whose rows are b_stride bytes apart (no alignment is
/// required); 0 for j >= rows. rows <= 8, words <= kPanelWords.
void fill_panel(const std::byte* b, std::size_t b_stride, std::size_t rows, std::size_t words,
                std::uint64_t* panel);

/// counts[i * counts_stride + j] += popcount(row i of a XOR row j of the panel) << shift, over
/// `words` words, for j < columns <= 8. `panel` is aligned to 64 bytes; counts must not overflow.
void add_xor_counts(const std::byte* a, std::size_t a_stride, std::size_t rows,
                    const std::uint64_t* panel, std::size_t words, int shift, std::size_t columns,
                    std::int32_t* counts, std::size_t counts_stride);

}  // namespace gradwire::compressors::kernels
