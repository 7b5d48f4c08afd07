#pragma once
#include <array>
#include <span>
#include <vector>

/// CGX's choice of bits by layer (arXiv 2111.08617): the fewest bits under a bound on the error.
namespace gradwire::methods {

inline constexpr int kFewestBits = 2, kUniformBits = 4, kMostBits = 8;

/// A layer's accumulated gradient.
struct LayerError {
  double elements = 0;
  double norm = 0;                            ///< 2-norm
  std::array<double, kMostBits + 1> error{};  ///< [bits]: squared, of quantising it so
};

/// Bits of each layer, in [kFewestBits, kMostBits]. Layers are clustered by their normalised sizes
/// and norms (k-means with one cluster a width, from quantiles of norm - size, at most 50 rounds,
/// ties to the lower index); clusters with large layers and small gradients get fewest bits. While
/// the errors' sum is above `alpha` times that of 4 bits everywhere, the cluster with the largest
/// error gets one bit more. Where that sends more than 4 bits everywhere and alpha >= 1, it is 4
/// bits everywhere.
std::vector<int> choose_bits(std::span<const LayerError> layers, double alpha);

/// Sums over layers.
double total_bits(std::span<const LayerError> layers, std::span<const int> bits);
double total_error(std::span<const LayerError> layers, std::span<const int> bits);

}  // namespace gradwire::methods
