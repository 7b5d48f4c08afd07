#include "results/points/iperf_log.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

TEST_CASE("iperf3's JSON gives what arrived, retransmissions and the least round trip") {
  const IperfLog log = read_iperf_log(sample("iperf3.json"), "i.json");
  CHECK(log.bytes_per_s == Approx(9.4e9 / 8));
  CHECK(log.seconds == 10);
  CHECK(log.retransmits == 37);
  CHECK(log.round_trip_s == Approx(120e-6));
}

TEST_CASE("iperf3's text gives the sum of its streams, not one stream") {
  const IperfLog log = read_iperf_log(sample("iperf3.txt"), "i.txt");
  CHECK(log.bytes_per_s == Approx(9.38e9 / 8));
  CHECK(log.seconds == Approx(10.04));
  CHECK(log.retransmits == 37);
  CHECK_FALSE(log.round_trip_s);
}

TEST_CASE("Other units: bits have decimal prefixes, bytes binary ones") {
  const auto rate = [](const std::string& text) {
    return read_iperf_log("[  5]   0.00-10.00  sec  1.09 GBytes   " + text + "  receiver\n", "i")
        .bytes_per_s;
  };
  CHECK(rate("938 Mbits/sec") == Approx(938e6 / 8));
  CHECK(rate("112 MBytes/sec") == Approx(112 * 1048576.0));
  CHECK(rate("9380 bits/sec") == Approx(9380 / 8.0));
}

TEST_CASE("What is no finished TCP test is refused with what to do") {
  const std::string json = sample("iperf3.json"), text = sample("iperf3.txt");
  const auto refused = [](const std::string& log, const std::string& what) {
    CHECK_THROWS_WITH(read_iperf_log(log, "i"), Contains(what));
  };
  refused("", "empty");
  refused(json.substr(0, json.size() / 2), "damaged or cut off");
  refused("[1, 2]", "cut off");
  refused(R"({"start": {}, "error": "unable to connect"})", "iperf3 failed: unable to connect");
  refused(R"({"start": {}, "end": {}})", "has no rate");
  refused(R"({"start": 1, "end": [2]})", "has no rate");
  refused(replaced(json, "\"TCP\"", "\"UDP\""), "UDP");
  refused(text.substr(0, text.find("- - -")), "cut off, or of iperf 2");
  refused("iperf3: error - unable to connect to server\n", "i:1: iperf3: error");
  refused("[ ID] Interval  Transfer  Bitrate  Jitter  Lost/Total Datagrams\n", "UDP");
  const std::string line = "[  5]   0.00-10.00  sec  1.09 GBytes   938 Mbits/sec  receiver\n";
  refused(line + line, "i:2: a second summary");
  refused(replaced(line, "938 ", "0.00 "), "nothing arrived");
}
