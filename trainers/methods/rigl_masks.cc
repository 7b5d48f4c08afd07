#include "trainers/methods/rigl_masks.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"

namespace gradwire::methods {
namespace {

double product(Shape shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0,
                         [](double all, std::int64_t extent) { return all * double(extent); });
}
double sum(Shape shape) {
  return std::accumulate(shape.begin(), shape.end(), 0.0,
                         [](double all, std::int64_t extent) { return all + double(extent); });
}

/// Moves the first k by `before`, a total order, to the front.
template <class Before>
void choose(std::vector<std::size_t>& elements, std::int64_t k, const Before& before) {
  GRADWIRE_ASSERT(k >= 0 && static_cast<std::size_t>(k) <= elements.size());
  const auto end = elements.begin() + k;
  if (end != elements.end()) std::nth_element(elements.begin(), end, elements.end(), before);
}

std::vector<std::size_t> elements_with(std::span<const float> mask, float value) {
  std::vector<std::size_t> elements;
  for (std::size_t e = 0; e < mask.size(); ++e)
    if (mask[e] == value) elements.push_back(e);
  return elements;
}

}  // namespace

std::vector<double> erk_densities(std::span<const Shape> shapes, double sparsity) {
  std::vector<double> densities(shapes.size(), 0.0);
  std::vector<bool> dense(shapes.size(), false);
  while (true) {
    double budget = 0, weight = 0;  // epsilon = budget / weight
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      budget += (1 - sparsity) * product(shapes[l]) - (dense[l] ? product(shapes[l]) : 0);
      if (!dense[l]) weight += sum(shapes[l]);
    }
    bool above = false;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      densities[l] = dense[l] ? 1 : budget / weight * sum(shapes[l]) / product(shapes[l]);
      if (densities[l] <= 1) continue;
      dense[l] = above = true;
    }
    if (!above) return densities;
  }
}

std::vector<double> uniform_densities(std::size_t layers, double sparsity) {
  std::vector<double> densities(layers, 1 - sparsity);
  if (layers > 0) densities[0] = 1;
  return densities;
}

std::int64_t kept_of(double density, std::int64_t n) {
  return std::clamp<std::int64_t>(std::llround(density * static_cast<double>(n)), 1, n);
}

double update_fraction(double alpha, std::int64_t step, std::int64_t end) {
  if (step >= end) return 0;
  const double x = static_cast<double>(step) / static_cast<double>(end);
  return alpha / 2 * (1 + std::cos(std::numbers::pi * x));
}

void draw_mask(const RandomStream& stream, std::int64_t kept, std::span<float> mask) {
  std::vector<std::uint32_t> words(mask.size());
  for (std::size_t e = 0; e < words.size(); ++e) words[e] = philox_word(stream, e);
  std::vector<std::size_t> elements(mask.size());
  std::iota(elements.begin(), elements.end(), std::size_t{0});
  choose(elements, kept, [&](std::size_t a, std::size_t b) {
    return words[a] != words[b] ? words[a] < words[b] : a < b;
  });
  for (std::int64_t i = 0; i < kept; ++i) mask[elements[static_cast<std::size_t>(i)]] = 1;
}

std::vector<std::size_t> move_mask(std::int64_t k, std::span<const float> score,
                                   std::span<float> mask, std::span<float> weights) {
  std::vector<std::size_t> dropped = elements_with(mask, 1);
  choose(dropped, k, [&](std::size_t a, std::size_t b) {
    const float x = std::abs(weights[a]), y = std::abs(weights[b]);
    return x != y ? x < y : a < b;
  });
  dropped.resize(static_cast<std::size_t>(k));
  for (const std::size_t e : dropped) mask[e] = 0;
  std::vector<std::size_t> grown = elements_with(mask, 0);
  choose(grown, k, [&](std::size_t a, std::size_t b) {
    const float x = std::abs(score[a]), y = std::abs(score[b]);
    return x != y ? x > y : a < b;
  });
  grown.resize(static_cast<std::size_t>(k));
  for (const std::size_t e : grown) mask[e] = 1;
  std::erase_if(dropped, [&](std::size_t e) { return mask[e] == 1; });  // came back at once
  for (const std::size_t e : dropped) weights[e] = 0;
  return dropped;
}

}  // namespace gradwire::methods
