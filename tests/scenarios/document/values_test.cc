#include "scenarios/document/values.h"

#include <catch2/catch.hpp>

using namespace gradwire;
using namespace gradwire::scenarios;

TEST_CASE("quantities have one canonical text", "[unit]") {
  CHECK(canonical_bytes(25'000'000) == "25MB");
  CHECK(canonical_bytes(8 * 1024 * 1024) == "8MiB");
  CHECK(canonical_bytes(1448) == "1448B");
  CHECK(canonical_bytes(0) == "0B");
  CHECK(canonical_rate(1e9) == "1Gbps");
  CHECK(canonical_rate(12.5e6 * 8) == "100Mbps");
  CHECK(canonical_duration(5e-5) == "50us");
  CHECK(canonical_duration(0) == "0s");
  CHECK(canonical_duration(90) == "90s");
}

TEST_CASE("the same quantity in other words gives the same value, bit for bit", "[unit]") {
  const Field& delay = scenario_table().find("/network/link/delay")->field();
  // 0.05 * 1e-3 and 50 * 1e-6 differ in their last bit; the canonical text settles on one of them.
  const CheckedValue one = check_value(delay, "0.05ms");
  const CheckedValue other = check_value(delay, "50us");
  CHECK(one.value == "50us");
  CHECK(one.base == other.base);
  const Field& rate = scenario_table().find("/network/link/bandwidth")->field();
  CHECK(check_value(rate, "1000Mbps").value == check_value(rate, "1Gbps").value);
  CHECK(check_value(rate, "125MBps").value == "1Gbps");
}

TEST_CASE("canonical texts are fixed points", "[unit]") {
  const Field& delay = scenario_table().find("/network/link/delay")->field();
  for (const char* text :
       {"1ns", "333.3us", "1.23456789012345ms", "3s", "0.1s", "7min", "59.9ms"}) {
    const CheckedValue once = check_value(delay, text);
    REQUIRE(once.problem.empty());
    const CheckedValue twice = check_value(delay, once.value);
    CHECK(once.value == twice.value);
    CHECK(once.base == twice.base);
  }
}

TEST_CASE("every default is accepted by its own row", "[unit]") {
  for (const Field& field : scenario_table().fields()) {
    if (field.shape != Shape::kValue) continue;
    INFO(field.pointer);
    CHECK_NOTHROW(default_value(field));
    CHECK_FALSE(field.spec.help.empty());
  }
}
