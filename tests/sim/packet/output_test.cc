#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temporary_file.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;
using Catch::Matchers::Contains;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Record {
  double time = 0;
  std::uint32_t captured = 0;
  std::uint32_t length = 0;
};

std::uint32_t word(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<Record> records(const std::string& path) {
  const std::string bytes = content(path);
  REQUIRE(bytes.size() >= 24);
  CHECK(word(bytes, 0) == 0xa1b2c3d4);
  CHECK(word(bytes, 20) == 101);  // raw IP
  std::vector<Record> result;
  for (std::size_t at = 24; at + 16 <= bytes.size();) {
    result.push_back(
        {word(bytes, at) + 1e-6 * word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12)});
    at += 16 + result.back().captured;
  }
  return result;
}

}  // namespace

TEST_CASE("captures hold every packet of a host, on the session's clock", "[needs-packet]") {
  require_packet_program();
  const TemporaryFolder folder;
  ExecutorOptions options;
  options.pcap_folder = folder.file("captures");
  {
    const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 10e-3)), options);
    const GraphId id = submit(*executor, transfer_graph({{0, 1}}), {Bytes(14'480)}, Seconds(3));
    events_until(*executor);
    CHECK(executor->timeline(id).end > Seconds(3));
  }
  int captures = 0;
  for (const auto& file : std::filesystem::directory_iterator(options.pcap_folder)) {
    ++captures;
    // Ten segments of 1,500 bytes; acknowledgements of 52 for two each.
    int segments = 0;
    for (const Record& record : records(file.path().string())) {
      segments += record.length == 1500;
      CHECK(record.captured <= 128);
      CHECK(record.time >= 3);
      CHECK(record.time < 3.1);
    }
    CHECK(segments == 10);
  }
  CHECK(captures == 2);
}

TEST_CASE("the flow monitor's file says what flows carried", "[needs-packet]") {
  require_packet_program();
  const TemporaryFolder folder;
  ExecutorOptions options;
  options.flow_monitor = folder.file("flows.xml");
  {
    const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 1e-3)), options);
    run(*executor, transfer_graph({{0, 1}}), {Bytes(144'800)});
  }
  // A hundred segments, and the two packets of the handshake.
  CHECK_THAT(content(options.flow_monitor),
             Contains("<FlowMonitor>") && Contains("sourceAddress=\"10.0.0.1\"") &&
                 Contains("txPackets=\"102\"") && Contains("lostPackets=\"0\""));
}

TEST_CASE("a place that cannot be written is named before anything runs", "[needs-packet]") {
  require_packet_program();
  ExecutorOptions options;
  options.flow_monitor = "/nonexistent-folder/flows.xml";
  CHECK_THROWS_WITH(make_packet_executor(Cluster::star(2, link(1e9, 1e-3)), options),
                    Contains("/nonexistent-folder/flows.xml"));
}
