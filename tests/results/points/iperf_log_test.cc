#include "results/points/iperf_log.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

/// Of a log that has one test.
IperfLog lone(const std::string& text, const std::string& file) {
  const IperfLogs logs = read_iperf_log(text, file);
  REQUIRE(logs.tests.size() == 1);
  CHECK(logs.tests[0].line == 0);
  CHECK(logs.unread.empty());
  return logs.tests[0];
}

}  // namespace

TEST_CASE("iperf3's JSON gives what arrived, retransmissions and the least round trip") {
  const IperfLog log = lone(sample("iperf3.json"), "i.json");
  CHECK(log.bytes_per_s == Approx(9.4e9 / 8));
  CHECK(log.seconds == 10);
  CHECK(log.retransmits == 37);
  CHECK(log.round_trip_s == Approx(120e-6));
}

TEST_CASE("iperf3's text gives the sum of its streams, not one stream") {
  const IperfLog log = lone(sample("iperf3.txt"), "i.txt");
  CHECK(log.bytes_per_s == Approx(9.38e9 / 8));
  CHECK(log.seconds == Approx(10.04));
  CHECK(log.retransmits == 37);
  CHECK_FALSE(log.round_trip_s);
}

TEST_CASE("Other units: bits have decimal prefixes, bytes binary ones") {
  const auto rate = [](const std::string& text) {
    return lone("[  5]   0.00-10.00  sec  1.09 GBytes   " + text + "  receiver\n", "i").bytes_per_s;
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

TEST_CASE("a rate that was asked for over TCP is no line rate") {
  const auto refused = [](const std::string& log, const std::string& what) {
    CHECK_THROWS_WITH(read_iperf_log(log, "i"), Contains(what) && Contains("no line rate"));
  };
  const std::string json = sample("iperf3_target_bitrate.json");
  refused(json, "i:1: -b or --fq-rate limited it to 170 Mbps");
  // Two streams of 85 Mbps each; paced by the kernel; as versions before 3.11 write it.
  refused(
      replaced(replaced(json, "\"num_streams\": 1", "\"num_streams\": 2"), "170000000", "85000000"),
      "170 Mbps");
  refused(replaced(replaced(json, "170000000", "0"), "\"fqrate\": 0", "\"fqrate\": 175000000"),
          "175 Mbps");
  refused(replaced(replaced(json, "\"target_bitrate\": 170000000", "\"tos\": 0"), "\"version\"",
                   "\"target_bitrate\": 170000000, \"version\""),
          "170 Mbps");
  // Asked for 1 Gbps, and the link gave 169.8 Mbps: that is the link's.
  CHECK(lone(replaced(json, "170000000", "1000000000"), "i").bytes_per_s == Approx(169.8e6 / 8));
  const std::string summary =
      "Connecting to host b, port 5201\n"
      "[  5]   0.00-10.00  sec   203 MBytes   170 Mbits/sec   12  sender\n"
      "[  5]   0.00-10.00  sec   202 MBytes   170 Mbits/sec       receiver\n";
  for (const char* command : {"$ iperf3 -c b -b 170M", "+ /usr/bin/iperf3 -c b --bitrate=170m/5",
                              "iperf3 -b170M -c b", "      Target Bitrate: 170000000"})
    refused(command + ("\n" + summary), "170 Mbps");
  for (const char* command : {"$ iperf3 -c b", "iperf3 -c b -b 0", "iperf3 -c b --bitrate 1G"})
    CHECK(lone(command + ("\n" + summary), "i").bytes_per_s == Approx(170e6 / 8));
}

TEST_CASE("iperf3's stream of events is the document that it makes up") {
  const std::string stream = sample("iperf3_stream.jsonl");
  const IperfLog log = lone(stream, "i");
  CHECK(log.bytes_per_s == Approx(938.4e6 / 8));
  CHECK(log.retransmits == 12);
  CHECK(log.round_trip_s == Approx(210e-6));
  // A launcher's label before each event; another one's time.
  std::string labelled;
  for (std::size_t at = 0; at < stream.size(); at = stream.find('\n', at) + 1)
    labelled += "[pod/client/c] 2026-05-01T10:00:00.0000000Z " +
                stream.substr(at, stream.find('\n', at) + 1 - at);
  const IperfLogs read = read_iperf_log(labelled, "i");
  REQUIRE(read.tests.size() == 1);
  CHECK(read.tests[0].bytes_per_s == Approx(938.4e6 / 8));
  // With --json-stream-full-output the whole follows its events; it is no second test.
  const auto end = stream.find("{\"event\": \"end\""), data = stream.find("\"data\": ", end) + 8;
  const std::string whole = "{\"end\": " + stream.substr(data, stream.rfind('}') - data) + "}\n";
  CHECK(lone(stream + whole, "i").retransmits == 12);
  CHECK(read_iperf_log(stream + sample("iperf3.json"), "i").tests.size() == 2);
  // Cut off before its end, or failed.
  CHECK_THROWS_WITH(read_iperf_log(stream.substr(0, end), "i"),
                    Contains("i:1: ") && Contains("cut off"));
  CHECK_THROWS_WITH(
      read_iperf_log(stream.substr(0, end) + R"({"event": "error", "data": "unable to send"})"
                                             "\n",
                     "i"),
      Contains("iperf3 failed: unable to send"));
}

TEST_CASE("several tests in a log are several; what stands beside them is said with its line") {
  const std::string json = sample("iperf3.json"), text = sample("iperf3.txt");
  const IperfLogs warned =
      read_iperf_log("warning: it is slow\nand old\n" + json + "$ exit\n", "i");
  REQUIRE(warned.tests.size() == 1);
  CHECK(warned.unread == std::vector<std::string>{
                             "i:1: not read: warning: it is slow (and 1 more lines)",
                             "i:" + std::to_string(3 + std::count(json.begin(), json.end(), '\n')) +
                                 ": not read: $ exit"});
  const auto sum = json.find("sum_received");
  const std::string slower = replaced(json.substr(sum), "9400000000", "8000000000");
  const IperfLogs two = read_iperf_log(json + json.substr(0, sum) + slower, "i");
  REQUIRE(two.tests.size() == 2);
  CHECK(two.tests[0].line == 1);
  CHECK(two.tests[1].line == 1 + std::count(json.begin(), json.end(), '\n'));
  CHECK(two.tests[1].bytes_per_s == Approx(1e9));
  const IperfLogs texts = read_iperf_log(text + "Connecting to host c, port 5201\n" + text, "i");
  REQUIRE(texts.tests.size() == 2);
  CHECK(texts.tests[0].line == 1);
  CHECK(texts.unread == std::vector<std::string>{
                            "i:" + std::to_string(1 + std::count(text.begin(), text.end(), '\n')) +
                            ": a test without a summary; left out"});
  // In a list, as jq -s writes them.
  CHECK(read_iperf_log("[\n" + json + ",\n" + json + "]\n", "i").tests.size() == 2);
}

TEST_CASE("labels and colours before iperf3's lines are no matter") {
  const std::string text = sample("iperf3.txt");
  for (const char* label : {"node-1: ", "[1,0]<stdout>:", "2026-05-01T10:00:00.123Z ",
                            "[pod/RX/c] ", "\x1B[0m", "> ", "Sat May  2 10:00:00 2026 "}) {
    std::string labelled;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      labelled += label + text.substr(at, text.find('\n', at) + 1 - at);
    INFO(label);
    CHECK(lone(labelled, "i").bytes_per_s == Approx(9.38e9 / 8));
  }
}
