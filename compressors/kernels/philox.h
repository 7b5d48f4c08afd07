#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"

namespace gradwire::compressors::kernels {

/// words[j] = the word of element begin + j of a tensor drawn from `draws`, for n elements; where
/// draws are injected, the word that gives them. Encoders that are fast do without a buffer: see
/// philox-inl.h.
void draw_words(const Draws& draws, std::size_t begin, std::size_t n, std::uint32_t* words);

/// Draws of blocks [first_block, first_block + blocks): words[4 * blocks].
inline void philox_words(const RandomStream& stream, std::uint32_t first_block, std::size_t blocks,
                         std::uint32_t* words) {
  draw_words({stream, 4 * std::uint64_t{first_block}, {}}, 0, 4 * blocks, words);
}

}  // namespace gradwire::compressors::kernels
