#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/codec.h"

namespace gradwire::compressors::kernels {

/// words[j] = the word of element begin + j of a tensor drawn from `draws`, for n elements; where
/// draws are injected, the word that gives them. Encoders that are fast do without a buffer: see
/// philox-inl.h.
void draw_words(const Draws& draws, std::size_t begin, std::size_t n, std::uint32_t* words);

}  // namespace gradwire::compressors::kernels
