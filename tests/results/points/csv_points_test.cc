#include "results/points/csv_points.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

PointList read(const std::string& text, const LinkFacts& facts = {}) {
  return points_from_csv(text, "t.csv", facts);
}

const std::string kHead = "workers,exchange,message_MB,bandwidth_Gbps,delay_us,step_time_ms\n";

}  // namespace

TEST_CASE("Units stand in the column's name or in the cell; throughput becomes a step time") {
  const PointList list = read(sample("steps.csv"));
  REQUIRE(list.points.size() == 3);
  CHECK(list.warnings.empty());
  const StepPoint& first = list.points[0];
  CHECK(first.name == "t.csv line 3");
  CHECK(first.step.exchange == ExchangeKind::kRingAllReduce);
  CHECK(first.step.workers == 2);
  CHECK(first.step.message_bytes() == Approx(100e6));
  CHECK(first.step.bandwidth == Approx(1.25e9));  // 10 Gbps / 8
  CHECK(first.step.delay_s == Approx(50e-6));
  CHECK(first.step.forward_s == Approx(0.02));  // a third of 60 ms
  CHECK(first.step.buckets[0].backward_s == Approx(0.04));
  CHECK(first.seconds == Approx(0.1452));
  const StepPoint& last = list.points[2];
  CHECK(last.step.bandwidth == Approx(1.25e9));
  CHECK(last.step.delay_s == Approx(50e-6));
  CHECK(last.seconds == Approx(8 * 32 / 1208.0));  // workers x batch over samples a second
  CHECK(last.provenance == Provenance::kPublished);
}

TEST_CASE("Totals are divided over buckets") {
  const auto list = read(
      "workers,exchange,message_bytes,encode,decode_ms,buckets,overlap,bandwidth,delay,step_time\n"
      "4,all-gather,1000,2ms,8,4,no,1Gbps,0us,20ms\n");
  REQUIRE(list.points[0].step.buckets.size() == 4);
  CHECK(list.points[0].step.buckets[3].message_bytes == 250);
  CHECK(list.points[0].step.buckets[3].encode_s == Approx(0.5e-3));
  CHECK(list.points[0].step.buckets[3].decode_s == Approx(2e-3));
  CHECK_FALSE(list.points[0].step.overlap);
}

TEST_CASE("What the table does not say comes from outside, and only that") {
  LinkFacts facts;
  facts.bandwidth = 1e9;
  facts.delay_s = 1e-3;
  facts.loss = 0.01;
  facts.exchange = ExchangeKind::kTreeAllReduce;
  const auto list = read("workers,message,delay,step_time\n4,10MB,2ms,80ms\n", facts);
  CHECK(list.points[0].step.bandwidth == 1e9);
  CHECK(list.points[0].step.delay_s == 2e-3);
  CHECK(list.points[0].step.loss == 0.01);
  CHECK(list.points[0].step.exchange == ExchangeKind::kTreeAllReduce);
}

TEST_CASE("Semicolons and tabs separate as well, with any line ends") {
  const auto seconds = [](const std::string& text) { return read(text).points.at(0).seconds; };
  std::string table = kHead + "2,ring,1.5,10,5,8\n";
  CHECK(seconds(table) == Approx(8e-3));
  for (const char separator : {';', '\t'}) {
    std::string other = table;
    std::replace(other.begin(), other.end(), ',', separator);
    CHECK(seconds(other) == Approx(8e-3));
    CHECK_THROWS_WITH(read(replaced(other, "1.5", "1,5")),
                      Contains("t.csv:2: message_MB: \"1,5\" has a comma in its number"));
  }
  // A cell that is empty at the end of a row.
  CHECK(seconds("workers\texchange\tmessage\tbandwidth\tdelay\tstep_time\tname\n"
                "2\tring\t1MB\t10Gbps\t5us\t8ms\t\n") == Approx(8e-3));
  std::replace(table.begin(), table.end(), '\n', '\r');
  CHECK(seconds(table) == Approx(8e-3));
  std::string wide = "\xFF\xFE";
  for (const char letter : table) wide += {letter, '\0'};
  CHECK_THROWS_WITH(read(wide), Contains("t.csv") && Contains("UTF-16"));
}

TEST_CASE("Wrong tables are refused with line, column and remedy") {
  const auto refused = [](const std::string& text, const std::string& what) {
    CHECK_THROWS_WITH(read(text), Contains(what));
  };
  refused("workers,exchange\n2,ring\n", "the column message is missing");
  refused("workers,exchange,message_MB,delay_us,step_time_s\n2,ring,1,1,1\n",
          "the column bandwidth is missing; or give --bandwidth");
  refused("wrokers,exchange\n2,ring\n", "did you mean \"workers\"?");
  refused("workers,message_Gbps\n2,1\n", "\"Gbps\" is no unit of message");
  refused("workers,workers (x)\n2,1\n", "\"x\" is no unit of workers");
  refused("delay_us,delay (ms)\n2,1\n", "two columns say delay");
  refused("workers message_MB\n2 1\n", "nothing separates its columns");
  refused(kHead + "2,ring,\"1,5\",10,5,1\n", "t.csv:2: message_MB: \"1,5\" has a comma");
  refused(kHead + "2,ring,1,10,5,1\n2.5,ring,1,10,5,1\n", "t.csv:3: workers: 2.5 is no whole");
  refused(kHead + "0,ring,1,10,5,1\n", "t.csv:2: workers: 0 is not above 0");
  refused(kHead + "2,rings,1,10,5,1\n", "t.csv:2: exchange: nobody knows \"rings\"");
  refused(kHead + "2,ring,1,10,5,0\n", "t.csv:2: step_time_ms: it is not above 0");
  refused(kHead + "2,ring,1,10,5,nan\n", "t.csv:2: step_time_ms: \"nan\" is no number");
  refused(kHead + "2,ring,1,10,5,\n", "neither a step time nor a throughput");
  refused(kHead + "2,ring,1,10,-5,1\n", "t.csv:2: delay_us: -5 is below 0");
  refused(kHead + "2,ring,1,10Gbps,5,1\n", "has a unit, and so has the column's name");
  refused(kHead + "2,ring,1,0,5,1\n", "t.csv:2: bandwidth_Gbps: it is not above 0");
  refused(kHead + "2,ring,,10,5,1\n", "t.csv:2: message_MB: it is empty");
  refused(kHead + "2,ring,1,10,5\n", "t.csv:2: 5 cells under 6 columns");
  const std::string bare = "workers,exchange,message,bandwidth,delay,step_time,loss,provenance\n";
  refused(bare + "2,ring,5,1Gbps,1us,1s,0,\n", "t.csv:2: message: \"5\" has no unit");
  refused(bare + "2,ring,5MB,1Gbps,1us,1parsec,0,\n", "t.csv:2: step_time");
  refused(bare + "2,ring,5MB,1Gbps,1us,1s,3,\n", "t.csv:2: loss: 3 is more than all");
  refused(bare + "2,ring,5MB,1Gbps,1us,1s,100%,\n", "t.csv:2: loss: nothing arrives");
  refused(bare + "2,ring,5MB,1Gbps,1us,1s,0,predicted\n", "\"predicted\" is no source of points");
  refused(bare + "1,ring,5MB,1Gbps,1us,1s,0,\n", "nothing is computed or exchanged");
}

TEST_CASE("Repeated, contradictory and implausible points are named") {
  // A ring of 2 on 10 Gbps moves 10 MB a worker: 8 ms and a little.
  const auto list = read(kHead +
                         "2,ring,10,10,5,9\n2,ring,10,10,5,9\n"         // the same again
                         "2,ring,10,10,5,20\n"                          // 2.22 times the time
                         "2,ring,10,10,5,9.1\n4,ring,10,10,5,9000\n");  // seconds for ms
  CHECK(list.points.size() == 4);
  const auto warned = [&](const std::string& what) {
    for (const std::string& warning : list.warnings)
      if (warning.find(what) != std::string::npos) return true;
    return false;
  };
  CHECK(warned("t.csv line 3 repeats t.csv line 2: taken once"));
  CHECK(warned("t.csv line 4 contradicts t.csv line 2: one configuration, 2.22 times"));
  CHECK(warned("are its units right?"));
  CHECK_FALSE(warned("t.csv line 5 contradicts t.csv line 2"));
}
