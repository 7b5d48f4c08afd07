#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"

/// Masks of sparse training: how dense each layer is, and which elements take others' places.
namespace gradwire::methods {

/// A weight tensor of a layer: its extents, such as out, in, height, width.
using Shape = std::span<const std::int64_t>;

/// Shares of elements that layers keep, so that of all of them together `sparsity` are 0.
/// Erdos-Renyi kernel: in proportion to sum(extents) / product(extents), at most 1; what layers
/// above 1 do not need goes to the others.
std::vector<double> erk_densities(std::span<const Shape> shapes, double sparsity);
/// Of all but the first layer, which stays dense: 1 - sparsity.
std::vector<double> uniform_densities(std::size_t layers, double sparsity);

/// ceil or floor of density * n, whichever is nearer, at least 1.
std::int64_t kept_of(double density, std::int64_t n);

/// alpha / 2 (1 + cos(pi step / end)), 0 from `end` on.
double update_fraction(double alpha, std::int64_t step, std::int64_t end);

/// Marks `kept` elements of a mask of zeros, drawn without replacement.
void draw_mask(const RandomStream& stream, std::int64_t kept, std::span<float> mask);

/// The k marked elements of smallest |weight| make room for the k elements of largest score among
/// those that are not kept, the dropped ones included; ties go to the lower index. Gives
/// the elements that are not marked any more; their weights become 0.
std::vector<std::size_t> move_mask(std::int64_t k, std::span<const float> score,
                                   std::span<float> mask, std::span<float> weights);

}  // namespace gradwire::methods
