#include "results/points/nccl_log.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

TEST_CASE("A log of all_reduce_perf has its ranks, hosts, sizes, and both groups of columns") {
  const auto runs = read_nccl_log(sample("all_reduce.txt"), "a.txt");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].test == NcclTest::kAllReduce);
  CHECK(runs[0].ranks == 4);
  CHECK(runs[0].hosts == 4);
  CHECK(runs[0].finished);
  REQUIRE(runs[0].rows.size() == 5);
  const NcclRow& row = runs[0].rows[2];
  CHECK(row.bytes == 1048576);
  REQUIRE(row.timings.size() == 2);
  CHECK(row.timings[0].seconds == Approx(179.7e-6));
  CHECK(row.timings[1].seconds == Approx(178.5e-6));
  CHECK(row.timings[0].algbw == Approx(5.84e9));
  CHECK(row.timings[1].busbw == Approx(8.81e9));
  CHECK_FALSE(row.timings[0].wrong);
}

TEST_CASE("The JSON of nccl-tests is read as the table that is printed beside it") {
  const std::string json = R"({"version": 1, "args": ["./build/all_reduce_perf", "-J", "x.json"],
    "nccl_version": 22707, "config": {"nthreads": 1, "ngpus": 1, "devices": [
      {"rank": 0, "hostname": "a", "device": 0}, {"rank": 1, "hostname": "a", "device": 1},
      {"rank": 2, "hostname": "b", "device": 0}, {"rank": 3, "hostname": "b", "device": 1}]},
    "results": [
      {"size": 1000000, "count": 250000, "type": "float", "redop": "sum", "root": "-1",
       "out_of_place": {"time": 100.0, "alg_bw": 10.0, "bus_bw": 15.0, "nwrong": 0},
       "in_place": {"time": 125.0, "alg_bw": 8.0, "bus_bw": 12.0, "nwrong": 3}},
      {"size": 2000000, "count": 500000, "type": "float", "redop": "sum", "root": "-1",
       "out_of_place": {"time": 200.0, "alg_bw": 10.0, "bus_bw": 15.0, "nwrong": null},
       "in_place": {"time": 200.0, "alg_bw": 10.0, "bus_bw": 15.0, "nwrong": null}}],
    "average_bus_bandwidth": {"bandwidth": 14.25, "okay": "unchecked"}})";
  const auto runs = read_nccl_log(json, "x.json");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].test == NcclTest::kAllReduce);
  CHECK(runs[0].ranks == 4);
  CHECK(runs[0].hosts == 2);
  CHECK(runs[0].finished);
  REQUIRE(runs[0].rows.size() == 2);
  REQUIRE(runs[0].rows[0].timings.size() == 2);
  CHECK(runs[0].rows[0].timings[0].seconds == Approx(100e-6));
  CHECK(runs[0].rows[0].timings[1].busbw == Approx(12e9));
  CHECK_FALSE(runs[0].rows[0].timings[0].wrong);
  CHECK(runs[0].rows[0].timings[1].wrong);
  CHECK_FALSE(runs[0].rows[1].timings[0].wrong);
  // Cut off, of another form, or at odds with itself.
  CHECK_THROWS_WITH(read_nccl_log(json.substr(0, json.size() - 40), "x.json"),
                    Contains("x.json") && Contains("cut off"));
  CHECK_THROWS_WITH(read_nccl_log(R"({"alg_bw": 1})", "x.json"), Contains("results"));
  std::string wrong = json;
  wrong.replace(wrong.find("100.0"), 5, "300.0");
  CHECK_THROWS_WITH(read_nccl_log(wrong, "x.json"), Contains("size over time"));
}

TEST_CASE("Launchers' labels, other output between the rows, and several tests are no matter") {
  const std::string log = sample("all_reduce.txt");
  std::string labelled, tagged;
  for (std::size_t at = 0; at < log.size();) {
    const auto end = log.find('\n', at);
    labelled += " 0: " + log.substr(at, end - at + 1);
    tagged += "[1,0]<stdout>:" + log.substr(at, end - at + 1);
    at = end == std::string::npos ? log.size() : end + 1;
  }
  CHECK(read_nccl_log(labelled, "l")[0].rows.size() == 5);
  CHECK(read_nccl_log(tagged, "t")[0].rows.size() == 5);
  const auto runs = read_nccl_log(
      log + "node-a:77:77 [0] NCCL INFO comm 0x5 rank 0\n" + sample("all_gather.txt"), "b");
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].test == NcclTest::kAllGather);
  CHECK(runs[1].rows.size() == 4);
}

TEST_CASE("Old logs without root and #wrong, and without a named test or ranks, are read") {
  // 8 ranks: busbw = algbw x 2 x 7/8 = 1.75 algbw; 1 MB in 100 us = 10 GB/s.
  const std::string old =
      "#       size    count    type   redop    time   algbw   busbw  error\n"
      "     1000000   250000   float     sum   100.0   10.00   17.50  5e-07\n"
      "    10000000  2500000   float     sum   800.0   12.50   21.88    N/A\n";
  const auto named = read_nccl_log("./build/all_reduce_perf -b 1M\n" + old, "o");
  CHECK(named[0].ranks == 8);  // by the factor: 1 / (1 - 1.75 / 2) = 8
  CHECK_FALSE(named[0].finished);
  CHECK_FALSE(named[0].rows[0].timings[0].wrong);
  const auto ranked = read_nccl_log("#   Rank  7 Pid 9 on host device 7\n" + old, "o");
  CHECK(ranked[0].test == NcclTest::kAllReduce);
  CHECK_THROWS_WITH(read_nccl_log(old, "o.txt"), Contains("neither the test nor its ranks"));
}

TEST_CASE("Wrong results are marked") {
  const auto runs = read_nccl_log(
      replaced(sample("all_reduce.txt"), "8.75      0    178.5", "8.75      3    178.5"), "a");
  CHECK(runs[0].rows[2].timings[0].wrong);
  CHECK_FALSE(runs[0].rows[2].timings[1].wrong);
}

TEST_CASE("Damaged and contradictory logs are refused with the line") {
  const std::string log = sample("all_reduce.txt");
  const auto refused = [&](const std::string& text, const std::string& what) {
    INFO(what);
    CHECK_THROWS_WITH(read_nccl_log(text, "a.txt"), Contains(what));
  };
  const auto row = log.find("  1073741824 ");
  refused(log.substr(0, row + 40), "a.txt:19: 3 words under 13 columns: cut off");
  refused(log.substr(0, row + 13), "a.txt:19: 1 words under 13");
  refused(log.substr(0, log.find("        1024")), "no size was measured");
  refused("", "no size was measured");
  // 1 MiB in 179.7 ms would be 0.0058 GB/s.
  refused(replaced(log, "  179.7 ", " 179700 "), "a.txt:17: size over time is 0.005835 GB/s");
  refused(replaced(log, "  179.7 ", "      0 "), "a.txt:17: its time is 0");
  refused(replaced(log, "  179.7 ", "    nan "), "a.txt:17: \"nan\" is no number");
  refused(replaced(log, "#  Rank  3", "#  Rank  7"), "yet 8 ranks and algbw make it");
  refused(replaced(log, "all_reduce_perf", "alltoall_perf"), "a.txt:2: nobody reads alltoall_perf");
  refused(replaced(log, "root     time", "root  cputime"), "a.txt:13: its times are the CPU's");
}
