#include "results/points/nccl_log.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/nccl_samples.h"

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
  for (const char* rank : {"1e110", "1.5", "-1"})
    CHECK_THROWS_WITH(
        read_nccl_log(replaced(json, "\"rank\": 3", std::string("\"rank\": ") + rank), "x.json"),
        Contains("not of the form"));
  std::string wrong = json;
  wrong.replace(wrong.find("100.0"), 5, "300.0");
  CHECK_THROWS_WITH(read_nccl_log(wrong, "x.json"), Contains("size over time"));
}

TEST_CASE("Labels before the lines, colours, no # and any line ends are no matter") {
  const std::string log = sample("all_reduce.txt");
  const auto reads = [&](const std::string& what, const std::string& text) {
    INFO(what);
    const NcclRun run = run_of(text);
    CHECK(run.test == NcclTest::kAllReduce);
    CHECK(run.ranks == 4);
    CHECK(run.hosts == 4);
    CHECK(run.finished);
    CHECK(run.rows.size() == 5);
    CHECK(run.notes.empty());
  };
  for (const char* label :
       {" 0: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "[0] ", "1: ", "node-1: ", "node-1:", "> ",
        "> > ", "[pod/nccl-launcher-x/test] ", "[pod/x/test] 2024-01-01T00:00:00.0000000Z ",
        "2024-01-01T00:00:00.0000000Z ",
        "Jan 01 10:00:00 node-1 all_reduce_perf[77]: ", "worker-1  | ", "\t", "    ", "\x1B[0m",
        "\x1B[32m0:\x1B(B\x1B[m ", "[2024-01-01 10:00:00] INFO "})
    reads(label, with_label(label, log));
  const auto marks = [](std::string line) {
    return line.starts_with("#") ? " " + line.substr(1) : line;
  };
  reads("no #", each_line(log, marks));
  reads("no #, and a label", with_label("node-1: ", each_line(log, marks)));
  reads("CRLF", each_line(log, [](const std::string& line) { return line + "\r"; }));
  std::string returns = log;
  std::replace(returns.begin(), returns.end(), '\n', '\r');
  reads("CR", returns);
  reads("byte order mark", "\xEF\xBB\xBF" + log);
  reads("colours at the ends",
        each_line(log, [](const std::string& line) { return line + "\x1B[K"; }));
  std::string wide = "\xFF\xFE";
  for (const char letter : log) wide += {letter, '\0'};
  CHECK_THROWS_WITH(read_nccl_log(wide, "w.txt"), Contains("w.txt") && Contains("UTF-16"));
  CHECK_THROWS_WITH(read_nccl_log(wide.substr(2), "w.txt"), Contains("UTF-16"));
}

TEST_CASE("Logs as people have posted them are read") {
  const auto reads = [](const char* name, NcclTest test, int ranks, std::size_t timings) {
    INFO(name);
    const NcclRun run = run_of(sample(name));
    CHECK(run.test == test);
    CHECK(run.ranks == ranks);
    CHECK(timings_of(run) == timings);
    return run;
  };
  reads("nccl_timestamps.txt", NcclTest::kAllReduce, 2, 6);
  reads("nccl_nohash.txt", NcclTest::kAllReduce, 8, 12);
  reads("nccl_pdsh.txt", NcclTest::kAllReduce, 2, 10);
  reads("nccl_ansi.txt", NcclTest::kAllReduce, 2, 10);
  reads("nccl_name_perf.txt", NcclTest::kAllReduce, 2, 10);
  // 93.95 / 53.69 = 1.75 = 2 x 7 / 8.
  reads("nccl_fragment.txt", NcclTest::kAllReduce, 8, 6);
  // 18 us for 64 KiB are 3.64 GB/s; algbw has half of it: 1.82, as busbw.
  const NcclRun old = reads("nccl_old_allgather.txt", NcclTest::kAllGather, 2, 10);
  CHECK(old.rows[0].timings[0].algbw == Approx(3.64e9));
  CHECK(old.rows[0].timings[0].busbw == Approx(1.82e9));
  // 268,435,456 B of 4 x 1,048,576 B each.
  const NcclRun all = reads("nccl_alltoall.txt", NcclTest::kAllToAll, 64, 4);
  CHECK_FALSE(all.rows[0].timings[0].wrong);
  CHECK(all.rows[0].timings[1].wrong);
}

TEST_CASE("Several tests in a log, and other programs' lines between rows, are no matter") {
  const auto runs = read_nccl_log(sample("all_reduce.txt") +
                                      "node-a:77:77 [0] NCCL INFO comm 0x5 rank 0 nranks 4\n" +
                                      "node-a:77:77 [0] NCCL INFO Channel 00/02 :  0  1  2  3\n" +
                                      sample("all_gather.txt") + sample("all_gather.txt"),
                                  "b");
  REQUIRE(runs.size() == 3);
  CHECK(runs[1].test == NcclTest::kAllGather);
  CHECK(runs[1].rows.size() == 4);
  CHECK(runs[2].ranks == 4);
}

TEST_CASE("Time stamps and figures of each iteration beside the times do no harm") {
  // -I and -T of 2.19: four columns behind each group, a date and a time at the end.
  std::string text =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% "
      "time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
      "# (B) (elements) (us) (GB/s) (GB/s) %Y-%m-%d %H:%M:%S\n";
  text +=
      "1048576 262144 float sum -1 119.84 8.75 8.75 0 110.00 130.00 129.00 4.20 "
      "120.00 8.74 8.74 0 111.00 131.00 130.00 4.10 2026-05-01 10:00:00\n";
  const NcclRun run = run_of(text);
  CHECK(run.ranks == 2);
  REQUIRE(timings_of(run) == 2);
  CHECK(run.rows[0].timings[1].seconds == Approx(120e-6));
  CHECK_THROWS_WITH(run_of(replaced(text, " 10:00:00\n", "\n")),
                    Contains("22 words under 23 columns"));
}

TEST_CASE("Times above ten seconds have two digits, and are taken as such") {
  // 64 GiB in 12.3 s = 5.587 GB/s; 1.2e+07 us would be 5.73.
  const std::string row =
      "68719476736 17179869184 float sum -1 1.2e+07 5.59 8.38 0 1.2e+07 5.59 8.38 0\n";
  const NcclRun run = run_of("#  Rank  3 Pid 1 on a device  0 [0x00] GPU\n" + kHead + row);
  CHECK(run.rows[0].timings[0].blur == Approx(0.05 / 1.2));
}

TEST_CASE("Sizes of no bytes and tables without rows are said once, with their line") {
  const std::string rows = kHead +
                           "0 0 float sum -1 10.0 0.00 0.00 0 10.0 0.00 0.00 0\n"
                           "0 0 float sum -1 10.0 0.00 0.00 0 10.0 0.00 0.00 0\n" +
                           rows_of(1.75, 1, "sum -1");
  const NcclRun run = run_of("./all_reduce_perf\n" + rows + "# nThread 1 nGpus 1\n" + kHead);
  CHECK(run.rows.size() == 3);
  CHECK(run.notes ==
        std::vector<std::string>{"a.txt:3: 2 rows from here of size 0: nothing was sent; left out",
                                 "a.txt:9: no size was measured in this table"});
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
  refused(replaced(log, "all_reduce_perf", "sendrecv_perf"), "a.txt:2: nobody reads sendrecv_perf");
  refused("1048576 262144 float sum -1 10.0 10.0 10.0\n", "a.txt:1: the row is cut off");
  refused(replaced(log, "root     time", "root  cputime"), "a.txt:13: its times are the CPU's");
}
