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
