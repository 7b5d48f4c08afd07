#pragma once
#include <span>
#include <vector>

#include "sim/graph/mixing.h"
#include "trainers/worker_pool.h"

namespace gradwire::trainers {

/// What mixing did to n models x_i with mean m, before and after it.
struct MixOutcome {
  double drift = 0;     ///< |m after - m before| / |m before|: rounding alone
  double distance = 0;  ///< mean over i of |x_i - m|^2, after
};

/// With what is known of all workers, y, one span each: x_i <- x_i + step sum_j W_ij (y_j - y_i).
/// With y empty: x_i <- sum_j W_ij x_j, in order of j. All spans have one size. What comes out does
/// not depend on the pool.
MixOutcome mix(const sim::Mixing& mixing, double step, std::span<const std::span<float>> x,
               std::span<const std::span<const float>> y, WorkerPool& pool);

/// The same for worker i alone, by what it knows: y_i (empty: weights are mixed), and of each edge
/// into it what it has heard of the sender, in the mixing's order; empty: nothing yet, and its own
/// stands in. change += what this does to the mean of all workers.
void mix_one(const sim::Mixing& mixing, int i, double step, std::span<float> x,
             std::span<const float> y, std::span<const std::span<const float>> known,
             std::span<double> change, WorkerPool& pool);

struct ModelSpread {
  double mean_square = 0;  ///< |m|^2
  double distance = 0;     ///< as MixOutcome::distance
};
ModelSpread spread_of(std::span<const std::span<float>> x, WorkerPool& pool);

/// m = the mean of all x.
void mean_of(std::span<const std::span<float>> x, std::span<float> m);

}  // namespace gradwire::trainers
