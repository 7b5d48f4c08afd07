#include "compressors/selection.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/thread_team.h"
#include "codec_fixture.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/kernels/select.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

struct Entries {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  std::uint32_t threshold = 0;
  std::size_t ties = 0;
  bool operator==(const Entries&) const = default;
};

Entries copy_of(const Selected& s) {
  return {{s.indices.begin(), s.indices.end()},
          {s.values.begin(), s.values.end()},
          s.threshold,
          s.ties};
}

// By full sort on (magnitude descending, index ascending): the oracle.
Entries by_sorting(const std::vector<float>& x, std::size_t k) {
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return magnitude_bits(x[a]) > magnitude_bits(x[b]); });
  Entries entries;
  entries.threshold = magnitude_bits(x[order[k - 1]]);
  order.resize(k);
  std::sort(order.begin(), order.end());
  for (const std::uint32_t e : order) {
    entries.indices.push_back(e);
    entries.values.push_back(x[e]);
    entries.ties += magnitude_bits(x[e]) == entries.threshold;
  }
  return entries;
}

Entries select(const std::vector<float>& x, std::size_t k, ThreadTeam* team = nullptr,
               SelectionRule rule = {}) {
  std::vector<std::byte> scratch(selection_scratch_size(x.size(), k, rule));
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(x.size())};
  return copy_of(select_largest("test", view_of(x, shape), k, scratch, team, rule));
}

// Selects from x + residual and checks what is left behind.
Entries select_of_sum(const std::vector<float>& x, std::vector<float>& residual, std::size_t k,
                      ThreadTeam* team = nullptr, SelectionRule rule = {}) {
  std::vector<float> left(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) left[e] = residual[e] + x[e];
  std::vector<std::byte> scratch(selection_scratch_size(x.size(), k, rule));
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(x.size())};
  const Entries entries = copy_of(select_largest_of_sum(
      "test", {.tensor = view_of(x, shape), .team = team}, residual, k, scratch, rule));
  for (const std::uint32_t e : entries.indices) left[e] = 0.0f;
  REQUIRE(residual == left);
  return entries;
}

// DGC's rule as it is written: the sample first, then every element.
Entries by_sampling(const std::vector<float>& x, std::size_t k) {
  const SelectionRule rule{.sampled = true};
  const SampleRule places = sample_rule(x.size(), selection_sample_size(x.size(), k, rule));
  std::vector<std::uint32_t> sample(places.count);
  for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = magnitude_bits(x[i * places.stride]);
  std::ranges::sort(sample, std::greater());
  std::uint32_t threshold = sample[sample_rank(sample.size(), k, x.size()) - 1];
  const auto reaching = [&] {
    return static_cast<std::size_t>(
        std::ranges::count_if(x, [&](float value) { return magnitude_bits(value) >= threshold; }));
  };
  for (int i = 0; i < kThresholdRetries && reaching() < fewest_sampled(k); ++i)
    threshold = lowered_threshold(threshold);
  const std::size_t found = reaching();
  const bool within = found >= fewest_sampled(k) && found <= most_selected(x.size(), k, rule);
  if (!within) return by_sorting(x, k);
  Entries entries = by_sorting(x, found);
  entries.threshold = threshold;
  entries.ties = static_cast<std::size_t>(
      std::ranges::count_if(x, [&](float value) { return magnitude_bits(value) == threshold; }));
  return entries;
}

// As select_of_sum of what a step makes of the velocity.
Entries select_of_velocity(const std::vector<float>& gradient, std::vector<float>& velocity,
                           std::vector<float>& residual, std::size_t k, ThreadTeam* team,
                           SelectionRule rule) {
  auto advanced = velocity;
  for (std::size_t e = 0; e < advanced.size(); ++e) {
    const float slowed = 0.9f * velocity[e];
    advanced[e] = slowed + gradient[e];
  }
  std::vector<float> left(gradient.size());
  for (std::size_t e = 0; e < left.size(); ++e) left[e] = residual[e] + advanced[e];
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(gradient.size())};
  std::vector<std::byte> scratch(selection_scratch_size(gradient.size(), k, rule));
  const VelocityStep step{.gradient = gradient, .velocity = velocity, .momentum = 0.9f};
  const EncodeJob job{.tensor = view_of(velocity, shape), .team = team, .keeps_state = k % 2 == 0};
  const Entries entries =
      copy_of(select_largest_of_sum("test", job, residual, k, scratch, rule, &step));
  for (const std::uint32_t e : entries.indices) left[e] = 0.0f;
  REQUIRE(velocity == advanced);
  REQUIRE(residual == left);
  return entries;
}

std::vector<float> sum_of(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t e = 0; e < a.size(); ++e) a[e] += b[e];
  return a;
}

// Tensors that mislead samples or overflow the candidates: spikes and holes at the sampled
// positions, one magnitude, few values besides 0, one block that holds all large values, a bias of
// what is sampled.
std::vector<std::vector<float>> hard_tensors(std::size_t n) {
  std::vector<std::vector<float>> tensors(10, random_values(n));
  const SampleRule rule = sample_rule(n, std::clamp<std::size_t>(n / 16, 1, 16384));
  for (std::size_t i = 0; i < rule.count; ++i) {
    tensors[1][i * rule.stride] = 9.0f + static_cast<float>(i % 100);
    tensors[2][i * rule.stride] = 0.0f;
  }
  const LineSample lines = line_sample(n);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t e = i / kSampleLine * lines.stride + i % kSampleLine;
    tensors[6][e] = 9.0f + static_cast<float>(i % 100);
    tensors[7][e] = 0.0f;
    // Every sampled value larger, or smaller, than most others like it: twice as many reach the
    // guess as the sample says, or half as many.
    tensors[8][e] *= 1.3f;
    tensors[9][e] /= 1.3f;
  }
  for (std::size_t e = 0; e < n; ++e) {
    tensors[3][e] = e % 3 == 0 ? -0.25f : 0.25f;
    tensors[4][e] = e % 5000 == 17 ? tensors[4][e] : 0.0f;
    if (e / 9000 == 3) tensors[5][e] *= 1000.0f;
  }
  return tensors;
}

}  // namespace

TEST_CASE("selection is what a full sort selects, whatever the tensor") {
  ThreadTeam team(3);
  for (const std::size_t n : {1u, 17u, 4096u, 16400u, 200001u})
    for (const auto& x : hard_tensors(n))
      for (const double ratio : {0.0001, 0.01, 0.4, 1.0}) {
        const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(ratio * n));
        INFO("n " << n << " k " << k);
        const Entries expected = by_sorting(x, k);
        REQUIRE(select(x, k) == expected);
        REQUIRE(select(x, k, &team) == expected);
      }
}

TEST_CASE("fused selection is that of the sum, and clears what it selects") {
  ThreadTeam team(2);
  for (const std::size_t n : {1u, 300u, 16400u, 200001u}) {
    const auto start = random_values(n, 5);
    for (const auto& x : hard_tensors(n))
      for (const double ratio : {0.001, 0.05, 0.7}) {
        const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(ratio * n));
        const Entries expected = by_sorting(sum_of(start, x), k);
        auto residual = start, other = start, zero = std::vector<float>(n);
        REQUIRE(select_of_sum(x, residual, k) == expected);
        REQUIRE(select_of_sum(x, other, k, &team) == expected);
        REQUIRE(select_of_sum(x, zero, k) == by_sorting(x, k));  // residual 0: the tensor itself
      }
  }
}

TEST_CASE("sampled selection takes 0.8 k to 1.3 k of the largest, or exactly k") {
  ThreadTeam team(2);
  for (const std::size_t n : {100u, 20000u, 300000u})
    for (const auto& x : hard_tensors(n))
      for (const double ratio : {0.001, 0.01, 0.3}) {
        const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(ratio * n));
        const SelectionRule rule{.sampled = true};
        const Entries got = select(x, k, nullptr, rule);
        const std::size_t count = got.indices.size();
        INFO("n " << n << " k " << k << " count " << count);
        REQUIRE((count == k || (count * 10 >= k * 8 && count * 10 <= k * 13)));
        REQUIRE(got == by_sampling(x, k));
        REQUIRE(select(x, k, &team, rule) == got);
        auto residual = x;
        REQUIRE(select_of_sum(std::vector<float>(n), residual, k, nullptr, rule) == got);
      }
}

TEST_CASE("a velocity may advance while it is selected from") {
  ThreadTeam team(2);
  for (const std::size_t n : {1u, 300u, 16400u, 200001u}) {
    const auto start = random_values(n, 5), velocity = random_values(n, 6);
    auto advanced = velocity;
    for (float& value : advanced) value *= 0.9f;
    for (const auto& x : hard_tensors(n))
      for (const std::size_t k : {n / 1000 + 1, n / 20 + 2}) {
        if (k > n) continue;
        const std::vector<float> sums = sum_of(sum_of(advanced, x), start);
        for (ThreadTeam* const threads : {static_cast<ThreadTeam*>(nullptr), &team})
          for (const bool sampled : {false, true}) {
            INFO("n " << n << " k " << k << " sampled " << sampled);
            auto u = velocity, v = start;
            const Entries got = select_of_velocity(x, u, v, k, threads, {.sampled = sampled});
            REQUIRE(got == (sampled ? by_sampling(sums, k) : by_sorting(sums, k)));
          }
      }
  }
}

TEST_CASE("every instruction set selects the same") {
  const auto x = random_values(70001);
  const Entries exact = by_sorting(x, 700);
  const Entries sampled = select(x, 700, nullptr, {.sampled = true});
  on_each_instruction_set([&] {
    CHECK(select(x, 700) == exact);
    CHECK(select(x, 700, nullptr, {.sampled = true}) == sampled);
    std::vector<float> residual(x.size());
    CHECK(select_of_sum(x, residual, 700) == exact);
  });
}

TEST_CASE("NaN, Inf and overflow are refused, naming the element") {
  using Catch::Matchers::Contains;
  for (const std::size_t n : {100u, 200000u}) {
    auto x = random_values(n);
    std::vector<float> residual(n);
    x[n - 3] = NAN;
    CHECK_THROWS_WITH(select(x, 1), Contains("element " + std::to_string(n - 3) + " is NaN"));
    const std::string before = "element " + std::to_string(n - 3) + " is NaN";
    CHECK_THROWS_WITH(select_of_sum(x, residual, 1), Contains(before));
    CHECK(residual == std::vector<float>(n));  // as it was
    // Who gives up then is told as much, after one look less.
    const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(n)};
    std::vector<std::byte> scratch(selection_scratch_size(n, 1));
    CHECK_THROWS_WITH(
        select_largest_of_sum("test", {.tensor = view_of(x, shape), .keeps_state = false}, residual,
                              1, scratch),
        Contains(before));
    x[n - 3] = 3e38f;
    std::fill(residual.begin(), residual.end(), 0.0f);
    residual[n - 3] = 3e38f;
    CHECK_THROWS_WITH(select_of_sum(x, residual, 1),
                      Contains("overflow at element " + std::to_string(n - 3)));
  }
}

TEST_CASE("samples have an odd stride and stay within the tensor") {
  for (const std::uint64_t n : {1ull, 7ull, 4096ull, 65537ull, 16777216ull})
    for (const std::uint64_t wanted : {1ull, 3ull, 1000ull, 16384ull}) {
      const SampleRule rule = sample_rule(n, wanted);
      CHECK(rule.count == std::min(n, wanted));
      CHECK(rule.stride % 2 == 1);
      CHECK((rule.count - 1) * rule.stride < n);
    }
  for (const std::uint64_t n : {0ull, 255ull, 4096ull, 65537ull, 16777216ull}) {
    const LineSample lines = line_sample(n);
    CHECK(lines.lines == std::min<std::uint64_t>(n / 256, 2048));
    CHECK(lines.stride / kSampleLine % 2 == 1);
    CHECK((lines.lines == 0 || (lines.lines - 1) * lines.stride + kSampleLine <= n));
  }
  CHECK(sample_rank(16384, 167773, 16777216) == 164);  // 163.84 up
  CHECK(fewest_sampled(10) == 8);
  CHECK(fewest_sampled(1) == 1);
  CHECK(most_sampled(10) == 13);
  CHECK(lowered_threshold(magnitude_bits(-2.0f)) == magnitude_bits(1.6f));
}

TEST_CASE("nonzero bits: -0 is zero, NaN is not, and the last byte is filled up with zeros") {
  on_each_instruction_set([&] {
    std::vector<std::byte> bits(2, std::byte{0xFF});
    const float x[] = {0, -0.0f, 1, -1e-45f, 0, NAN, 0, 2, 0, INFINITY};
    CHECK(kernels::nonzero_bits(x, 10, bits.data()) == 5);
    CHECK(bits == std::vector<std::byte>{std::byte{0b10101100}, std::byte{0b10}});
    CHECK(kernels::nonzero_bits(x, 0, bits.data()) == 0);
    CHECK(bits[0] == std::byte{0b10101100});  // nothing is written for no elements
  });
}

TEST_CASE("nonzero bits of every length: none, all, every third") {
  on_each_instruction_set([&] {
    for (const std::size_t n : {1u, 7u, 8u, 63u, 64u, 65u, 127u, 128u, 1001u})
      for (const std::size_t every : {std::size_t{1}, std::size_t{3}, n + 1}) {
        std::vector<float> values(n);
        std::vector<std::byte> bits((n + 7) / 8, std::byte{0xFF}), expected(bits.size());
        std::size_t count = 0;
        for (std::size_t i = every - 1; i < n; i += every, ++count) {
          values[i] = i % 2 == 0 ? 1e-45f : -3.0f;
          expected[i / 8] |= std::byte{1} << (i % 8);
        }
        REQUIRE(kernels::nonzero_bits(values.data(), n, bits.data()) == count);
        REQUIRE(bits == expected);
        values[n / 2] = values[n / 2] == 0 ? 1.0f : 0.0f;
        kernels::nonzero_bits(values.data(), n, bits.data());
        REQUIRE(bits != expected);
      }
  });
}
