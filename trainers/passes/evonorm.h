#pragma once
#include "trainers/passes/aten.h"

#include <cstdint>
#include <functional>

/// Range-EvoNorm (Aketi, Kodge, Roy, arXiv 2111.09389): a normalisation of each sample by itself,
/// and the activation that follows it. Includes LibTorch.
namespace gradwire::trainers {

inline constexpr std::int64_t kEvoNormChunks = 16;

/// What a range of m values of unit variance is divided by, m being a chunk's elements: 0.175 (1 +
/// sqrt(pi ln 4)) / sqrt(2 ln m) of it is a deviation (Banner et al., arXiv 1805.11046). m >= 2.
double range_factor(std::int64_t elements);

/// Groups of a sample's channels: 8, or the next power of two below that leaves whole chunks of 4
/// elements or more. Throws TrainerError where not even one group does.
std::int64_t evonorm_groups(std::int64_t channels, std::int64_t positions);

/// Of x, [batch, channels] or [batch, channels, height, width], and one gate v, scale and shift a
/// channel:
///
///   n = x clamp(x v / 6 + 1/2, 0, 1)
///   r = mean of the maxima, less that of the minima, of a group's 16 chunks of x
///   y = scale n t(1 / (r c + e)) + shift
///
/// c being range_factor of a chunk, e 1e-5, and t what is done with the factors of all samples and
/// groups, [batch, groups, 1]; nothing: they are taken as they are.
using OfFactors = std::function<at::Tensor(const at::Tensor&)>;
at::Tensor range_evonorm(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& scale,
                         const at::Tensor& shift, const OfFactors& of_factors = {});

}  // namespace gradwire::trainers
