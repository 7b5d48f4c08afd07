#include "sim/flow/fluid/unacknowledged.h"

#include <catch2/catch.hpp>

using namespace gradwire::sim;

namespace {

// 1,000 bytes a second and a round trip of 10 s.
constexpr double kRate = 1000, kRoundTrip = 10;

double at(const Unacknowledged& sent, double time) {
  return sent.at(time, kRate, kRoundTrip);
}

}  // namespace

TEST_CASE("What was sent is acknowledged a round trip later, at the line's rate") {
  Unacknowledged sent;
  CHECK(at(sent, 0) == 0);
  sent.add(3, 2000, kRate, kRoundTrip);  // from 1 s on: acknowledged from 11 to 13 s
  CHECK(at(sent, 3) == 2000);
  CHECK(at(sent, 11) == 2000);
  CHECK(at(sent, 12) == 1000);
  CHECK(at(sent, 13) == 0);
  sent.add(8, 1000, kRate, kRoundTrip);  // from 7 s on: acknowledged from 17 to 18 s
  CHECK(at(sent, 8) == 3000);
  CHECK(sent.most() == 3000);
  CHECK(at(sent, 12.5) == 500 + 1000);
  CHECK(at(sent, 15) == 1000);  // nothing is acknowledged in the pause between them
  CHECK(at(sent, 17.25) == 750);
}

TEST_CASE("The next acknowledgement is the first byte's that is not acknowledged") {
  Unacknowledged sent;
  const auto next = [&](double time) { return sent.until_next(time, kRate, kRoundTrip); };
  CHECK(next(0) == kRoundTrip);  // of what is sent now
  sent.add(3, 2000, kRate, kRoundTrip);
  sent.add(8, 1000, kRate, kRoundTrip);
  CHECK(next(8) == 3);   // the first burst's, at 11 s
  CHECK(next(12) == 0);  // they are coming
  CHECK(next(14) == 3);  // the second burst's, at 17 s
  CHECK(next(18) == kRoundTrip);
}

TEST_CASE("Bursts without a pause are one; of three that had one, no byte is counted too early") {
  Unacknowledged joined;
  for (const double end : {1, 2, 3, 4}) joined.add(end, 1000, kRate, kRoundTrip);
  CHECK(at(joined, 4) == 4000);
  CHECK(at(joined, 12.5) == 1500);  // 4,000 sent from 0 to 4 s, acknowledged from 10 to 14 s

  Unacknowledged apart;
  for (const double end : {1, 3, 5}) apart.add(end, 1000, kRate, kRoundTrip);
  CHECK(at(apart, 5) == 3000);
  // Acknowledged from 10 to 11, 12 to 13, 14 to 15 s: 2,000 are left at 11.5 s. The first two count
  // as one that ended at 3 s: 1,500 + 1,000.
  CHECK(at(apart, 11.5) == 2500);
  CHECK(at(apart, 13) == 1000);
}
