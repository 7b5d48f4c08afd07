#pragma once
#include <cstddef>

/// Loops that do nothing but move floats, as fast as the memory allows: the roof of everything
/// else. Compiled for each instruction set, as the codecs' kernels are. Large arrays are written
/// past the caches, arrays that fit into them the ordinary way.
namespace gradwire::bench::loops {

/// A number that depends on all values, with software prefetch.
float read(const float* values, std::size_t n);
void copy(const float* from, float* to, std::size_t n, bool past_caches);
void fill(float* to, std::size_t n, float value, bool past_caches);
/// values[i] *= factor.
void update(float* values, std::size_t n, float factor);
/// sums[i] += values[i].
void add(const float* values, float* sums, std::size_t n);

}  // namespace gradwire::bench::loops
