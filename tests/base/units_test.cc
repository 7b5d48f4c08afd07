#include "base/units.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/quantities.h"

using namespace gradwire;

TEST_CASE("unit strings: bits and bytes, decimal and binary stay apart", "[unit]") {
  CHECK(parse_rate("1Gbps").value() == 1e9);
  CHECK(parse_rate("1GBps").value() == 8e9);
  CHECK(parse_bytes("25MB").count() == 25'000'000);
  CHECK(parse_bytes("25MiB").count() == 25 * 1024 * 1024);
  CHECK(parse_bytes("0.5kB").count() == 500);
  CHECK(parse_bytes("1.1MB").count() == 1'100'000);  // 1.1 x 1e6 is not whole in binary fractions
  CHECK(parse_duration("50us").value() == Approx(50e-6));
  CHECK(parse_duration("1.5 ms").value() == Approx(1.5e-3));
  // 1 MB over 8 Mbps = 8e6 bits / 8e6 bits per second = 1 s.
  CHECK(transmission_time(parse_bytes("1MB"), parse_rate("8Mbps")).value() == Approx(1.0));
}

TEST_CASE("a bare number, an unknown unit and nonsense are refused with what is allowed",
          "[unit]") {
  for (const char* text : {"100", "", "Gbps", "1 gbps", "1GB", "nanGbps", "1Gbps x"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rate(text), Error);
  }
  CHECK_THROWS_WITH(parse_rate("100"),
                    Catch::Contains("unit is missing") && Catch::Contains("Mbps"));
  CHECK_THROWS_AS(parse_bytes("-1B"), Error);
  CHECK_THROWS_AS(parse_bytes("0.5B"), Error);
  CHECK_THROWS_AS(parse_duration("5"), Error);
}

TEST_CASE("numbers for people carry a fitting unit", "[unit]") {
  CHECK(format_duration(Seconds(0.0123)) == "12.3 ms");
  CHECK(format_duration(Seconds(0)) == "0 ns");
  CHECK(format_duration(Seconds(90'000)) == "25.0 h");
  CHECK(format_duration(Seconds(1e7)) == "116 days");
  CHECK(format_duration(Seconds(4e12)) == "126839 years");
  CHECK(format_bytes(Bytes(4'194'304)) == "4.19 MB");
  CHECK(format_rate(BitsPerSecond(1e9)) == "1.00 Gbps");
}

TEST_CASE("failed tests show quantities with all their digits", "[unit]") {
  CHECK(Catch::Detail::stringify(Seconds(0.25)) == "0.25 s");
  CHECK(Catch::Detail::stringify(Seconds(0.1 + 0.2)) == "0.30000000000000004 s");
  CHECK(Catch::Detail::stringify(Bytes(1448)) == "1448 B");
  CHECK(Catch::Detail::stringify(BitsPerSecond(2.5e9)) == "2.5e+09 bps");
}
