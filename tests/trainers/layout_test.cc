#include "trainers/layout.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace gradwire::trainers {
namespace {

std::vector<Parameter> three_layers() {
  return {{"first.weight", {10, 4}, 0, 0.5f},
          {"first.bias", {10}, 0, 0.5f},
          {"second.weight", {3, 10}, 0, 0.25f},
          {"scale", {3}, 1, 0}};
}

TEST_CASE("tensors lie in backward order and fill buckets up to their size") {
  const auto parameters = three_layers();
  // fp32 bytes, backwards: scale 12, second.weight 120, first.bias 40, first.weight 160.
  const Layout layout(parameters, Bytes(180));
  REQUIRE(layout.tensors().size() == 4);
  CHECK(layout.tensors()[0].name == "scale");
  CHECK(layout.tensors()[0].parameter == 3);
  CHECK(layout.tensors()[3].name == "first.weight");
  CHECK(layout.tensor_of(0) == 3);
  CHECK(layout.elements() == 40 + 10 + 30 + 3);
  // 12 + 120 + 40 = 172 <= 180, with first.weight it would be 332.
  REQUIRE(layout.buckets().size() == 2);
  CHECK(layout.buckets()[0].count == 43);
  CHECK(layout.buckets()[0].tensors() == 3);
  CHECK(layout.buckets()[1].first == 43);
  CHECK(layout.buckets()[1].count == 40);
  // A tensor larger than a bucket has one of its own.
  CHECK(Layout(parameters, Bytes(1)).buckets().size() == 4);
  CHECK(Layout(parameters, Bytes(25'000'000)).buckets().size() == 1);
}

TEST_CASE("tensors of different sets have buckets of their own, in the order of readiness") {
  const auto parameters = three_layers();
  // Matrices: set 0, vectors: set 1. Backwards: scale (1), second.weight (0), first.bias (1),
  // first.weight (0). Set 1 is complete with first.bias, set 0 with first.weight.
  const std::vector<std::size_t> sets = {0, 1, 0, 1};
  const Layout layout(parameters, Bytes(1 << 20), sets);
  REQUIRE(layout.buckets().size() == 2);
  CHECK(layout.buckets()[0].set == 1);
  CHECK(layout.buckets()[0].count == 13);
  CHECK(layout.buckets()[1].set == 0);
  CHECK(layout.buckets()[1].first == 13);
  CHECK(layout.buckets()[1].count == 70);
  const char* expected[] = {"scale", "first.bias", "second.weight", "first.weight"};
  std::int64_t first = 0;
  for (std::size_t t = 0; t < 4; ++t) {
    const TensorSlot& slot = layout.tensors()[t];
    CHECK(slot.name == expected[t]);
    CHECK(slot.first == first);
    CHECK(layout.tensor_of(slot.parameter) == t);
    first += slot.count;
  }
  // Two matrices of 120 and 160 bytes do not fit into 200; the first of them is ready before the
  // vectors are.
  const Layout cut(parameters, Bytes(200), sets);
  REQUIRE(cut.buckets().size() == 3);
  CHECK(cut.buckets()[0].count == 30);
  CHECK(cut.buckets()[1].set == 1);
  CHECK(cut.buckets()[2].count == 40);
  // One set is the layout without sets.
  const Layout same(parameters, Bytes(180), std::vector<std::size_t>(4, 0));
  CHECK(same.buckets().size() == 2);
  CHECK(same.tensors()[0].name == "scale");
}

TEST_CASE("initial values depend on seed and tensor, not on buckets") {
  const auto parameters = three_layers();
  const Layout one(parameters, Bytes(1 << 20)), many(parameters, Bytes(1));
  std::vector<float> a(83), b(83), c(83);
  initialise(parameters, one, 1, a);
  initialise(parameters, many, 1, b);
  initialise(parameters, one, 2, c);
  CHECK(a == b);
  CHECK(a != c);
  CHECK(a[0] == 1.0f);  // scale: centre 1, bound 0
  for (std::size_t e = 3; e < 33; ++e) CHECK(std::abs(a[e]) <= 0.25f);
}

}  // namespace
}  // namespace gradwire::trainers
