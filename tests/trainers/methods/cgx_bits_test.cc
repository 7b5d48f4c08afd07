#include <catch2/catch.hpp>
#include <cmath>

#include "trainers/methods/cgx_bits.h"

using namespace gradwire::methods;

namespace {

/// A layer whose error falls by 4 with each bit, as that of uniform levels does.
LayerError layer(double elements, double norm) {
  LayerError made{.elements = elements, .norm = norm};
  for (int bits = kFewestBits; bits <= kMostBits; ++bits)
    made.error[static_cast<std::size_t>(bits)] = norm * norm * std::pow(4.0, -bits);
  return made;
}

/// A large layer with small gradients, two that are neither, a small one with large gradients.
std::vector<LayerError> layers_of_four() {
  return {layer(1e6, 1), layer(2e5, 3), layer(1e5, 4), layer(1e4, 8)};
}

/// The fewest bits under the bound, by trying all.
double fewest(const std::vector<LayerError>& layers, double alpha) {
  const double most = alpha * total_error(layers, std::vector<int>(layers.size(), kUniformBits));
  std::vector<int> bits(layers.size(), kFewestBits);
  double best = -1;
  for (;;) {
    if (total_error(layers, bits) <= most && (best < 0 || total_bits(layers, bits) < best))
      best = total_bits(layers, bits);
    std::size_t at = 0;
    while (at < bits.size() && ++bits[at] > kMostBits) bits[at++] = kFewestBits;
    if (at == bits.size()) return best;
  }
}

}  // namespace

TEST_CASE("bits by layer keep to the error of 4 bits, with no more bits than these", "[methods]") {
  const std::vector<LayerError> layers = layers_of_four();
  const std::vector<int> uniform(layers.size(), kUniformBits);
  for (const double alpha : {1.0, 2.0, 4.0}) {
    INFO(alpha);
    const std::vector<int> bits = choose_bits(layers, alpha);
    CHECK(total_error(layers, bits) <= alpha * total_error(layers, uniform));
    CHECK(total_bits(layers, bits) <= total_bits(layers, uniform));
    const double best = fewest(layers, alpha);
    WARN("alpha " << alpha << ": " << total_bits(layers, bits) / best << " of the fewest bits");
    CHECK(total_bits(layers, bits) >= best);
    CHECK(total_bits(layers, bits) <= 1.5 * best);
  }
  // The large layer with small gradients gets fewer bits than the small one with large gradients.
  const std::vector<int> bits = choose_bits(layers, 2);
  CHECK(bits.front() < bits.back());
}

TEST_CASE("a bound below that of 4 bits is kept with more", "[methods]") {
  const std::vector<LayerError> layers = layers_of_four();
  const std::vector<int> bits = choose_bits(layers, 0.1);
  CHECK(total_error(layers, bits) <=
        0.1 * total_error(layers, std::vector<int>(layers.size(), kUniformBits)));
  // One that nothing can keep ends at the most bits everywhere.
  CHECK(choose_bits(layers, 1e-9) == std::vector<int>(4, kMostBits));
}

TEST_CASE("bits of layers that are alike, of one layer, and of none", "[methods]") {
  CHECK(choose_bits({}, 1).empty());
  CHECK(choose_bits(std::vector<LayerError>{layer(100, 2)}, 1) == std::vector<int>{kUniformBits});
  const std::vector<LayerError> alike(5, layer(1000, 1));
  const std::vector<int> bits = choose_bits(alike, 1);
  for (const int each : bits) CHECK(each == bits[0]);
  // Nothing but zeros: no error at any width.
  const std::vector<LayerError> zeros(3, LayerError{.elements = 10});
  CHECK(total_error(zeros, choose_bits(zeros, 1)) == 0);
}
