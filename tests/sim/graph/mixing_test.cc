#include "sim/graph/mixing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/sim_error.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

constexpr double kPi = 3.14159265358979323846;

std::string refusal(int workers, const std::vector<GivenEdge>& edges) {
  try {
    make_mixing(workers, edges);
  } catch (const SimError& error) {
    return error.what();
  }
  return "";
}

/// Weights into and out of each worker, itself included, add up to 1.
void check_doubly_stochastic(const Mixing& mixing) {
  for (int i = 0; i < mixing.workers(); ++i) {
    double in = mixing.self(i), out = mixing.self(i);
    for (const MixingEdge& edge : mixing.edges()) {
      if (edge.to == i) in += edge.weight;
      if (edge.from == i) out += edge.weight;
    }
    CHECK(in == Approx(1).epsilon(1e-12));
    CHECK(out == Approx(1).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("mixing: weights of all graphs are doubly stochastic") {
  for (const int n : {2, 5, 8, 16}) {
    check_doubly_stochastic(make_mixing(n, both_ways(gossip_ring(n))));
    check_doubly_stochastic(make_mixing(n, directed_ring(n)));
    check_doubly_stochastic(make_mixing(n, directed_exponential(n)));
    check_doubly_stochastic(make_mixing(n, both_ways(gossip_complete(n))));
  }
  check_doubly_stochastic(make_mixing(12, both_ways(gossip_torus(12))));
  check_doubly_stochastic(make_mixing(12, both_ways(gossip_random_regular(12, 3, 7))));
  // A star of four: the hub has 3 neighbours, so every edge has 1/4, and a leaf keeps 3/4.
  const Mixing star = make_mixing(4, both_ways({{0, 1}, {0, 2}, {0, 3}}));
  check_doubly_stochastic(star);
  CHECK(star.self(0) == Approx(0.25));
  CHECK(star.self(2) == Approx(0.75));
}

TEST_CASE("mixing: spectral gaps that are known in closed form") {
  // Undirected ring, weights 1/3: eigenvalues 1/3 + 2/3 cos(2 pi k / n).
  for (const int n : {8, 16})
    CHECK(make_mixing(n, both_ways(gossip_ring(n))).spectral_gap() ==
          Approx(1 - (1 + 2 * std::cos(2 * kPi / n)) / 3).margin(1e-6));
  CHECK(make_mixing(8, both_ways(gossip_ring(8))).spectral_gap() ==
        Approx(1 - 0.8047).margin(1e-4));
  CHECK(make_mixing(16, both_ways(gossip_ring(16))).spectral_gap() ==
        Approx(1 - 0.9493).margin(1e-4));
  // Directed ring, weights 1/2: moduli |1 + e^(2 pi i k / n)| / 2 = cos(pi k / n).
  CHECK(make_mixing(8, directed_ring(8)).spectral_gap() == Approx(1 - 0.9239).margin(1e-4));
  CHECK(make_mixing(8, both_ways(gossip_complete(8))).spectral_gap() == Approx(1).margin(1e-9));
  CHECK(make_mixing(1, {}).spectral_gap() == 1);
  // Exponential, n = 2^k: weights 1 / (k + 1), gap 2 / (k + 1) (Ying et al. 2021, proposition 1).
  CHECK(make_mixing(16, directed_exponential(16)).spectral_gap() == Approx(2.0 / 5).margin(1e-6));
}

TEST_CASE("mixing: senders of a worker stand together, and receivers in order") {
  const Mixing mixing = make_mixing(4, directed_exponential(4));
  CHECK(mixing.receivers(3) == std::vector<std::int32_t>{0, 1});
  CHECK(mixing.first_into(4) == 8);
  for (int i = 0; i < 4; ++i)
    for (std::size_t e = mixing.first_into(i); e < mixing.first_into(i + 1); ++e)
      CHECK(mixing.edges()[e].to == i);
}

TEST_CASE("mixing: what is no graph to mix by is refused with its reason") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal(4, both_ways({{0, 1}, {2, 3}})), Contains("not connected"));
  CHECK_THAT(refusal(3, {}), Contains("not connected"));
  // 0 -> 1 -> 2 and nothing back: 0 sends 1/2 and receives nothing.
  CHECK_THAT(refusal(3, {{0, 1}, {1, 2}}), Contains("not doubly stochastic"));
  CHECK_THAT(refusal(3, {{0, 1, 0.5}, {1, 2, 0.25}, {2, 0, 0.5}}),
             Contains("not doubly stochastic"));
  CHECK_THAT(refusal(2, {{0, 1, 1.5}, {1, 0, 1.5}}), Contains("add up to 1.5"));
  CHECK_THAT(refusal(2, {{0, 1, -0.5}, {1, 0, -0.5}}), Contains("more than 0"));
  CHECK_THAT(refusal(2, {{0, 1, 0.5}, {1, 0}}), Contains("all of them or none"));
  CHECK_THAT(refusal(2, {{0, 2}, {2, 0}}), Contains("no worker"));
  CHECK_THAT(refusal(2, {{0, 0}, {0, 1}, {1, 0}}), Contains("to itself"));
  CHECK_THAT(refusal(2, {{0, 1}, {0, 1}, {1, 0}}), Contains("twice"));
  CHECK(refusal(3, {{0, 1, 0.5}, {1, 2, 0.5}, {2, 0, 0.5}}).empty());
  CHECK(refusal(1, {}).empty());
}
