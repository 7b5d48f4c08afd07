#pragma once
#include <cstddef>

namespace gradwire::trainers {

/// One step of sgd on `n` elements: g' = g + decay w; v = momentum v + g'; w -= rate v.
inline void sgd_step(float rate, float momentum, float decay, std::size_t n,
                     const float* __restrict g, float* __restrict w, float* __restrict v) {
  // The velocity starts at zero, so the first step needs no case of its own.
  for (std::size_t e = 0; e < n; ++e) {
    v[e] = momentum * v[e] + (g[e] + decay * w[e]);
    w[e] -= rate * v[e];
  }
}

/// Without momentum: w -= rate g'.
inline void sgd_step(float rate, float decay, std::size_t n, const float* __restrict g,
                     float* __restrict w) {
  for (std::size_t e = 0; e < n; ++e) w[e] -= rate * (g[e] + decay * w[e]);
}

}  // namespace gradwire::trainers
