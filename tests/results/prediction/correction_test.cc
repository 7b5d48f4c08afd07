#include "results/prediction/correction.h"

#include <catch2/catch.hpp>

using gradwire::results::Correction;

TEST_CASE("A correction is linear in logarithms and constant beyond what is known") {
  Correction correction;
  CHECK(correction.at(5) == 1);
  correction.add(100, 3);
  CHECK(correction.at(5) == 3);
  correction.add(1, 1);                   // given out of order
  CHECK(correction.at(10) == Approx(2));  // half the way from 1 to 100
  CHECK(correction.at(0.1) == 1);
  CHECK(correction.at(1e4) == 3);
  CHECK(correction.knows(100));
  CHECK_FALSE(correction.knows(10));
}
