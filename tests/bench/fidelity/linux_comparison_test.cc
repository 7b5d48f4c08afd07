#include "bench/fidelity/linux_comparison.h"

#include <catch2/catch.hpp>

using namespace gradwire::bench;

TEST_CASE("A repetition is disturbed by a frame that is late by 1 % of it, or 40 us") {
  CHECK_FALSE(Repetition{0.1, 0.9e-3}.is_disturbed());
  CHECK(Repetition{0.1, 1.1e-3}.is_disturbed());
  CHECK_FALSE(Repetition{1e-3, 39e-6}.is_disturbed());  // 1 % would be 10 us
  CHECK(Repetition{1e-3, 41e-6}.is_disturbed());
}

TEST_CASE("Disturbed repetitions count only where there are too few others") {
  // Undisturbed: 0.10, 0.11, 0.12 and 0.14; the two others were late by 5 ms.
  CHECK(undisturbed_median(
            {{0.30, 5e-3}, {0.10, 0}, {0.14, 0}, {0.11, 0}, {0.12, 0}, {0.40, 5e-3}}) ==
        Approx(0.115));
  // Two are undisturbed; the less late of the others makes three: 0.10, 0.11, 0.20.
  CHECK(undisturbed_median({{0.30, 9e-3}, {0.10, 0}, {0.11, 0}, {0.20, 5e-3}}) == Approx(0.11));
}
