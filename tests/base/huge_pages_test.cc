#include "base/huge_pages.h"

#include <algorithm>
#include <catch2/catch.hpp>

using gradwire::zeros_in_huge_pages;

TEST_CASE("memory in huge pages, where there are any, is zeros of any number") {
  for (const std::size_t n : {0u, 1u, 1000u, 3'000'001u}) {
    auto zeros = zeros_in_huge_pages<float>(n);
    CHECK(zeros.size() == n);
    CHECK(std::ranges::all_of(zeros, [](float value) { return value == 0; }));
    std::ranges::fill(zeros, 1.0f);  // all of it can be written
    CHECK(std::ranges::all_of(zeros, [](float value) { return value == 1; }));
  }
}
