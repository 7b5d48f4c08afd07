#pragma once
#include <vector>

#include "trainers/updates/update.h"

namespace gradwire::trainers {

/// Tensors of these shapes, in the order of the flat buffers.
inline Layout layout_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<Parameter> parameters;
  for (std::size_t t = shapes.size(); t-- > 0;)  // layouts run backwards
    parameters.push_back({.name = "t" + std::to_string(t), .shape = shapes[t]});
  return Layout(parameters, Bytes(1 << 20));
}

/// Numbers in [-1, 1), the same each time.
inline std::vector<float> some_values(std::size_t count, std::uint32_t seed) {
  std::vector<float> values;
  for (std::size_t e = 0; e < count; ++e) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(seed >> 8) / static_cast<float>(1u << 23) - 1);
  }
  return values;
}

/// Weights after `steps` steps with gradients drawn anew for each.
inline std::vector<float> trained(Update& update, const Layout& layout, int steps,
                                  double rate = 0.01) {
  std::vector<float> w = some_values(static_cast<std::size_t>(layout.elements()), 1);
  for (int step = 0; step < steps; ++step)
    update.step(rate, some_values(w.size(), 100 + static_cast<std::uint32_t>(step)), w);
  return w;
}
inline std::vector<float> trained(const UpdateSettings& settings, const Layout& layout, int steps,
                                  double rate = 0.01) {
  Update update(settings, layout);
  return trained(update, layout, steps, rate);
}

}  // namespace gradwire::trainers
