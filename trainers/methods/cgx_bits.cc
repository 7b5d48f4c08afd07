#include "trainers/methods/cgx_bits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradwire::methods {
namespace {

constexpr std::size_t kWidths = kMostBits - kFewestBits + 1;
constexpr int kRounds = 50;

struct Point {
  double size = 0, norm = 0;
  double order() const { return norm - size; }
};

double squared_distance(const Point& a, const Point& b) {
  return (a.size - b.size) * (a.size - b.size) + (a.norm - b.norm) * (a.norm - b.norm);
}

/// Both coordinates as shares of the largest.
std::vector<Point> points_of(std::span<const LayerError> layers) {
  Point largest;
  for (const LayerError& layer : layers)
    largest = {std::max(largest.size, layer.elements), std::max(largest.norm, layer.norm)};
  std::vector<Point> points;
  for (const LayerError& layer : layers)
    points.push_back({largest.size > 0 ? layer.elements / largest.size : 0,
                      largest.norm > 0 ? layer.norm / largest.norm : 0});
  return points;
}

std::vector<Point> first_centres(const std::vector<Point>& points, std::size_t clusters) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t p) { return points[p].order(); });
  std::vector<Point> centres;
  for (std::size_t c = 0; c < clusters; ++c)
    centres.push_back(points[order[(2 * c + 1) * points.size() / (2 * clusters)]]);
  return centres;
}

std::size_t nearest(const Point& point, const std::vector<Point>& centres) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centres.size(); ++c)
    if (squared_distance(point, centres[c]) < squared_distance(point, centres[best])) best = c;
  return best;
}

/// The mean of each cluster; one without points stays where it is.
void move_centres(const std::vector<Point>& points, const std::vector<std::size_t>& cluster_of,
                  std::vector<Point>& centres) {
  for (std::size_t c = 0; c < centres.size(); ++c) {
    Point sum;
    double count = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (cluster_of[p] != c) continue;
      sum = {sum.size + points[p].size, sum.norm + points[p].norm};
      ++count;
    }
    if (count > 0) centres[c] = {sum.size / count, sum.norm / count};
  }
}

/// The cluster of each point; clusters are numbered by their centres' norm less size, ascending.
std::vector<std::size_t> clustered(const std::vector<Point>& points, std::size_t clusters) {
  std::vector<Point> centres = first_centres(points, clusters);
  std::vector<std::size_t> cluster_of;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::size_t> now;
    for (const Point& point : points) now.push_back(nearest(point, centres));
    if (now == cluster_of) break;
    cluster_of = now;
    move_centres(points, cluster_of, centres);
  }
  std::vector<std::size_t> order(clusters), rank(clusters);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return centres[c].order(); });
  for (std::size_t r = 0; r < clusters; ++r) rank[order[r]] = r;
  for (std::size_t& cluster : cluster_of) cluster = rank[cluster];
  return cluster_of;
}

double error_of(const LayerError& layer, int bits) {
  return layer.error[static_cast<std::size_t>(bits)];
}

}  // namespace

double total_bits(std::span<const LayerError> layers, std::span<const int> bits) {
  double sum = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) sum += layers[l].elements * bits[l];
  return sum;
}

double total_error(std::span<const LayerError> layers, std::span<const int> bits) {
  double sum = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) sum += error_of(layers[l], bits[l]);
  return sum;
}

std::vector<int> choose_bits(std::span<const LayerError> layers, double alpha) {
  const std::vector<int> uniform(layers.size(), kUniformBits);
  if (layers.empty()) return uniform;
  const double most = alpha * total_error(layers, uniform);
  const std::size_t clusters = std::min(kWidths, layers.size());
  const std::vector<std::size_t> cluster_of = clustered(points_of(layers), clusters);
  std::vector<int> width(clusters);
  for (std::size_t c = 0; c < clusters; ++c) width[c] = kFewestBits + static_cast<int>(c);
  std::vector<int> bits(layers.size());
  for (;;) {
    std::vector<double> error(clusters);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      bits[l] = width[cluster_of[l]];
      error[cluster_of[l]] += error_of(layers[l], bits[l]);
    }
    if (total_error(layers, bits) <= most) break;
    std::size_t worst = clusters;
    for (std::size_t c = 0; c < clusters; ++c)
      if (width[c] < kMostBits && (worst == clusters || error[c] > error[worst])) worst = c;
    if (worst == clusters) break;  // all have the most
    ++width[worst];
  }
  const bool no_better = total_bits(layers, bits) > total_bits(layers, uniform);
  return no_better && alpha >= 1 ? uniform : bits;
}

}  // namespace gradwire::methods
