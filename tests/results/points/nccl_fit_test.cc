#include "results/points/nccl_fit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

/// A log of all_reduce_perf as a machine of 8 V100s would write it whose NCCL has these constants.
std::string made_log(double start, double latency, double bandwidth) {
  std::string text =
      "# nThread 1 nGpus 8 minBytes 1024 maxBytes 1073741824 step: 4(factor)\n# Using devices\n";
  for (int rank = 0; rank < 8; ++rank) {
    char line[120];
    std::snprintf(line, sizeof line,
                  "#  Rank %2d Group  0 Pid   1000 on    dgx-1 device %2d [0x00] V100\n", rank,
                  rank);
    text += line;
  }
  text +=
      "#                                                              out-of-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
  for (int power = 10; power <= 30; power += 2) {
    sim::NcclCall call;
    call.workers = call.gpus_per_node = 8;
    call.share = 1.75;
    call.bytes = std::pow(2.0, power);
    const auto plan =
        sim::nccl_plan(call, {135e9 * bandwidth, sim::nccl_gpu("v100")->most_of_ll[0], latency, 1});
    const double seconds = start + plan.seconds(), rate = call.bytes / seconds / 1e9;
    char line[160];
    std::snprintf(line, sizeof line, "%12.0f %12.0f float sum -1 %10.2f %7.2f %7.2f 0\n",
                  call.bytes, call.bytes / 4, 1e6 * seconds, rate, 1.75 * rate);
    text += line;
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 40\n";
}

}  // namespace

TEST_CASE("NCCL's constants come back from a log that was made with them") {
  const LogFile log = {"made.txt", made_log(40e-6, 1.3, 0.95)};
  const NcclFit fit = fit_nccl(std::span(&log, 1), {"v100", {}});
  CHECK(fit.settings.start.value() == Approx(40e-6).epsilon(0.05));
  CHECK(fit.settings.latency == Approx(1.3).epsilon(0.08));
  CHECK(fit.settings.bandwidth == Approx(0.95).epsilon(0.01));
  CHECK(fit.settings.network == Approx(1));  // nothing between nodes: the prior
  CHECK_FALSE(fit.decided[3]);
  CHECK(fit.decided[2]);
  REQUIRE(fit.rows.size() == 11);
  CHECK(fit.rows.front().protocol == "LL");
  CHECK(fit.rows.back().protocol == "Simple");
  CHECK(fit.median_error < 0.02);
  // Another GPU's links do not have these times: B200s in a node of 8 reach six times as much.
  CHECK(fit_nccl(std::span(&log, 1), {"b200", {}}).worst_error > 0.5);
}

TEST_CASE("logs that NCCL's form cannot take are refused") {
  const LogFile log = {"a.txt", sample("all_reduce.txt")};  // of 4 hosts
  const auto fit = [&](NcclFitRequest request) { return fit_nccl(std::span(&log, 1), request); };
  CHECK_THROWS_WITH(fit({"v10", {}}), Contains("not known") && Contains("v100"));
  CHECK_THROWS_WITH(fit({"v100", {}}), Contains("--between"));
  CHECK(fit({"v100", BitsPerSecond(100e9)}).rows.size() == 5);
  const LogFile others[] = {
      {"w.txt", replaced(sample("all_reduce.txt"), "8.75      0    178.5", "8.75      3    178.5")},
      {"all.txt", sample("nccl_alltoall.txt")}};
  const NcclFit without = fit_nccl(std::span(others, 1), {"v100", BitsPerSecond(100e9)});
  CHECK(without.rows.size() == 4);
  CHECK(without.warnings == std::vector<std::string>{"w.txt:17: its results were wrong; left out"});
  CHECK_THROWS_WITH(fit_nccl(std::span(others + 1, 1), {"v100", BitsPerSecond(100e9)}),
                    Contains("all.txt:5: NCCL's form has no all-to-all"));
}
