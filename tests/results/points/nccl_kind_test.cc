#include "results/points/nccl_kind.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/points/nccl_samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

TEST_CASE("Ranks are processes times threads times GPUs a thread") {
  const auto ranks = [](const std::string& text) { return run_of(text).ranks; };
  CHECK(ranks(sample("nccl_json_g8_1proc.json")) == 8);
  CHECK(ranks(sample("nccl_json_g8_2proc.json")) == 16);
  CHECK(run_of(sample("nccl_json_g8_2proc.json")).hosts == 2);
  CHECK(ranks(sample("nccl_json_g8_32proc.json")) == 256);
  // 2 threads of 4 GPUs each, as 8 GPUs of one thread.
  const std::string json = sample("nccl_json_g8_2proc.json");
  CHECK(ranks(replaced(json, "\"nthreads\": 1, \"ngpus\": 8", "\"nthreads\": 2, \"ngpus\": 4")) ==
        16);
  // Every rank is listed: what the table beside the file has.
  std::string list = "# nThread 2 nGpus 4 minBytes 1 maxBytes 1 step: 2(factor)\n";
  for (int rank = 0; rank < 16; ++rank)
    list += "#  Rank " + std::to_string(rank) + " Group  0 Pid " + std::to_string(100 + rank / 8) +
            " on node" + std::to_string(rank / 8) + " device " + std::to_string(rank % 8) +
            " [0x00] GPU\n";
  const std::string rows = kHead + rows_of(2 * 15 / 16.0, 1, "sum -1");
  CHECK(ranks(list + rows) == 16);
  CHECK(run_of(list + rows).hosts == 2);
  // A long list is cut off within a process: "...".
  CHECK(ranks(list.substr(0, list.find("#  Rank 13")) + "...\n" + rows) == 16);
}

TEST_CASE("Groups that ran side by side have their own ranks") {
  std::string list = "# nThread 1 nGpus 1\n";
  for (int rank = 0; rank < 8; ++rank)
    list += "#  Rank " + std::to_string(rank) + " Group " + std::to_string(rank % 2) + " Pid " +
            std::to_string(rank) + " on n" + std::to_string(rank / 4) + " device 0 [0x00] GPU\n";
  const std::string rows = kHead + rows_of(2 * 3 / 4.0, 1, "sum -1");
  const NcclRun run = run_of(list + rows);
  CHECK(run.ranks == 4);
  CHECK(run.groups == 2);
  CHECK(run.hosts == 2);
  CHECK_THROWS_WITH(run_of(replaced(list, "Rank 7 Group 1", "Rank 7 Group 2") + rows),
                    Contains("different numbers of ranks"));
}

TEST_CASE("The columns tell the test and its ranks where the log does not") {
  const auto is = [](const std::string& text, NcclTest test, int ranks) {
    INFO(text);
    const NcclRun run = run_of(text);
    CHECK(run.test == test);
    CHECK(run.ranks == ranks);
    return run;
  };
  const double of_eight = 7 / 8.0;
  const NcclRun eight = is(kHead + rows_of(2 * of_eight, 1, "sum -1"), NcclTest::kAllReduce, 8);
  CHECK(eight.notes.empty());
  const NcclRun two = is(kHead + rows_of(1, 1, "sum -1"), NcclTest::kAllReduce, 2);
  REQUIRE(two.notes.size() == 1);
  CHECK_THAT(two.notes[0], Contains("sendrecv_perf prints the same columns"));
  is(kHead + rows_of(of_eight, 8, "sum -1"), NcclTest::kReduceScatter, 8);
  is(kOldHead + rows_of(of_eight, 8, ""), NcclTest::kAllGather, 8);
  is(kOldSums + rows_of(of_eight, 8, ""), NcclTest::kAllToAll, 8);
  // Before June 2020: algbw = busbw.
  const NcclRun old = is(kOldSums + rows_of(of_eight, 8, "sum", true), NcclTest::kReduceScatter, 8);
  CHECK(old.rows[0].timings[0].algbw == Approx(10e9 / of_eight).epsilon(0.001));
  is(kOldHead + rows_of(of_eight, 8, "", true), NcclTest::kAllGather, 8);
  is("+ ./build/all_gather_perf -g 3\n" + kOldHead + rows_of(2 / 3.0, 3, "", true),
     NcclTest::kAllGather, 3);
  // The same columns: by the name, or the first of them, and that is said.
  const std::string none = kHead + rows_of(of_eight, 8, "none -1");
  is("# Collective test starting: alltoall_perf\n" + none, NcclTest::kAllToAll, 8);
  is("$ mpirun -np 8 ./alltoall_perf_mpi -b 8M\n" + none, NcclTest::kAllToAll, 8);
  is(none + "# Collective test concluded: alltoall_perf\n", NcclTest::kAllToAll, 8);
  const NcclRun first = is(none, NcclTest::kAllGather, 8);
  REQUIRE(first.notes.size() == 1);
  CHECK_THAT(first.notes[0],
             Contains("a.txt:2: the test is not named: taken for all_gather_perf") &&
                 Contains("alltoall_perf prints the same"));
  // Rows alone.
  is(rows_of(2 * of_eight, 1, "sum -1"), NcclTest::kAllReduce, 8);
  is(with_label("0: ", rows_of(2 * of_eight, 1, "sum")), NcclTest::kAllReduce, 8);
  // A name that the columns are not of: a loop over tests, a script of that name.
  const NcclRun loop = is("for t in all_gather_perf all_reduce_perf; do mpirun $t; done\n" + kHead +
                              rows_of(2 * of_eight, 1, "sum -1"),
                          NcclTest::kAllReduce, 8);
  REQUIRE(loop.notes.size() == 1);
  CHECK_THAT(loop.notes[0], Contains("a.txt:1: all_gather_perf is named"));
  is("+ /opt/my_all_perf.sh\n# run_perf\n" + kHead + rows_of(2 * of_eight, 1, "sum -1"),
     NcclTest::kAllReduce, 8);
}

TEST_CASE("Tests that are no exchange of a step are refused by name") {
  const auto refused = [](const std::string& text, const std::string& what) {
    CHECK_THROWS_WITH(read_nccl_log(text, "a.txt"), Contains(what));
  };
  refused("# Collective test starting: broadcast_perf\n" + kHead + rows_of(1, 1, "none 0"),
          "a.txt:1: nobody reads broadcast_perf");
  refused(kHead + rows_of(1, 1, "none 0"), "a.txt:2: nobody reads broadcast_perf");
  refused(kHead + rows_of(1, 1, "sum 3"), "nobody reads reduce_perf");
  refused(kOldHead + rows_of(1, 1, ""), "nobody reads sendrecv_perf");
  refused("# Collective test starting: my_perf\n" + kHead + rows_of(1.75, 1, "sum -1"),
          "a.txt:1: nobody reads my_perf");
}

TEST_CASE("One rank sends nothing, and two processes of one rank neither") {
  CHECK_THROWS_WITH(
      read_nccl_log(sample("nccl_two_single.txt"), "a.txt"),
      Contains("a.txt:17: 2 processes of one rank each: nothing was sent") && Contains("MPI=1"));
  const std::string row = "  1048576 262144 float sum -1 10.0 104.86 0.00 0 0.4 2621.44 0.00 0\n";
  for (const std::string& head :
       {kHead, std::string("#  Rank  0 Pid 1 on a device  0 [0x00] GPU\n"), std::string()})
    CHECK_THROWS_WITH(read_nccl_log(head + row, "a.txt"),
                      Contains("it has one rank: nothing was sent") && Contains("MPI=1"));
  // Two tests at a time, lines mixed.
  const std::string log = sample("all_reduce.txt");
  CHECK_THROWS_WITH(
      read_nccl_log(replaced(log, "NCCL version", "#  Rank  0 Pid 7 on other device 0 x\nNCCL"),
                    "a.txt"),
      Contains("a.txt:10: a rank is listed a second time"));
}
